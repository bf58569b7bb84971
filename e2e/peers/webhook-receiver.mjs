// A receiver of webhooks that goes by the library of Standard Webhooks: it believes what verifies, and says so on standard output.
//
//   SECRET   what signs; PORT where it listens; FAILS how many it answers with 500 first
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SECRET);
let fails = Number(process.env.FAILS ?? 0);

createServer(async (req, res) => {
  const body = await text(req);
  try {
    const told = webhook.verify(body, req.headers);
    if (fails-- > 0) {
      console.log(`failed ${req.headers["webhook-id"]}`);
      res.writeHead(500).end();
      return;
    }
    console.log(`verified ${req.headers["webhook-id"]} ${told.type} ${told.data.title}`);
    console.log(`told ${JSON.stringify(told)}`);
    res.writeHead(204).end();
  } catch (err) {
    console.log(`refused ${err.message}`);
    res.writeHead(400).end();
  }
}).listen(Number(process.env.PORT), "127.0.0.1", () => console.log("listening"));
