// A receiver of webhooks that goes by the library of Standard Webhooks: it believes what verifies, and says so on standard output.
//
//   SECRET   what signs; PORT where it listens
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SECRET);

createServer(async (req, res) => {
  const body = await text(req);
  try {
    const told = webhook.verify(body, req.headers);
    console.log(`verified ${req.headers["webhook-id"]} ${told.type} ${told.data.title}`);
    res.writeHead(204).end();
  } catch (err) {
    console.log(`refused ${err.message}`);
    res.writeHead(400).end();
  }
}).listen(Number(process.env.PORT), "127.0.0.1", () => console.log("listening"));
