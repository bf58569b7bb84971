// An SMTP server of nodemailer that requires STARTTLS and a password. It prints each message that it accepts as one line of JSON.
//
//   PORT where it listens; CERT, KEY files of its certificate; SMTP_USER, SMTP_PASSWORD its one account
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";

const { PORT, CERT, KEY, SMTP_USER, SMTP_PASSWORD } = process.env;

const server = new SMTPServer({
  cert: readFileSync(CERT),
  key: readFileSync(KEY),
  authMethods: ["PLAIN", "LOGIN"],
  onAuth({ username, password }, session, done) {
    if (username === SMTP_USER && password === SMTP_PASSWORD) return done(null, { user: username });
    console.log("refused");
    done(new Error("Invalid username or password"));
  },
  async onData(stream, session, done) {
    const raw = await text(stream);
    const { mailFrom, rcptTo } = session.envelope;
    console.log(`mail ${JSON.stringify({ from: mailFrom.address, to: rcptTo.map((to) => to.address), user: session.user, tls: session.secure, raw })}`);
    done();
  },
});
server.on("error", (err) => console.error(err.message)); // as of a client that gives up
server.listen(Number(PORT), "127.0.0.1", () => console.log("listening"));
