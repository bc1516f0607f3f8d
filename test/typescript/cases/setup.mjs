// What the tests have in common: the server under test, and servers that do their worst.
import { once } from "node:events";
import { createServer, request } from "node:http";
import { Waymark } from "@waymarkhq/client";

export const { WAYMARK_SERVER: server, WAYMARK_TOKEN: token, WAYMARK_RECEIVER: receiver } = process.env;

/** Returns a client of the server under test. */
export const connect = (options) => new Waymark({ server, token, ...options });

/** Makes an app with a hostname on which links can be made. */
export async function owner(waymark = connect()) {
  const { data: app } = await waymark.call("createApps", { body: { name: "Shoes & Sons" } });
  const { data: options } = await waymark.call("getDomainOptions", { appId: app.id });
  const prefix = `t${app.id.slice(-12)}`;
  await waymark.call("createDomains", { body: { appId: app.id, mode: "platform", prefix } });
  return { waymark, appId: app.id, domain: `${prefix}.${options.platformZones[0]}` };
}

/** Serves until the test ends, and returns the address. */
export async function listen(t, handler) {
  const s = createServer(handler).listen(0, "127.0.0.1");
  await once(s, "listening");
  t.after(() => {
    s.closeAllConnections();
    s.close();
  });
  return `http://127.0.0.1:${s.address().port}`;
}

/**
 * Stands before the server under test. Each request reaches the server; spoil(answer, response, body) has the answer,
 * and returns true when it did something else with it than to pass it on.
 */
export function proxy(t, spoil) {
  return listen(t, (incoming, response) => {
    const to = new URL(incoming.url, server);
    const passed = request(to, { method: incoming.method, headers: { ...incoming.headers, host: to.host } }, async (answer) => {
      const body = Buffer.concat(await answer.toArray());
      if (spoil(answer, response, body, incoming)) return;
      response.writeHead(answer.statusCode, answer.headers).end(body);
    });
    incoming.pipe(passed);
  });
}

/** Waits until check returns something. */
export async function eventually(check) {
  for (const until = Date.now() + 60_000; ; ) {
    const found = await check();
    if (found) return found;
    if (Date.now() > until) throw new Error("it does not come");
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Has the server send a test event, and returns the request that arrives. */
export async function deliver(waymark, { id, appId }) {
  await waymark.call("testWebhooksWebhookId", { webhookId: id });
  return eventually(async () => (await (await fetch(`${receiver}/${appId}`)).json())?.[0]);
}
