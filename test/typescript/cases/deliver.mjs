// Has the server send a webhook, and prints what arrived and its secret.
import { deliver, owner } from "./setup.mjs";

const { waymark, appId, domain } = await owner();
const { data } = await waymark.call("createWebhooks", { body: { appId, url: "https://example.com/hook", events: ["link.created"] } });
console.log(JSON.stringify({ appId, domain, secret: data.secret, delivery: await deliver(waymark, data.webhook) }));
