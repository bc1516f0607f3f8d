// A real OpenID Connect provider (npm oidc-provider) for oidc_test.go: it gives
// JWTs for test users without any interaction, and changes its
// keys on demand.
//
//   node provider.mjs [port]    prints its issuer; ends when its input ends
//   POST /token                 the provider's own endpoint, grant type
//                               urn:waymark:test with sub, audience, ttl, and
//                               sid, email, email_verified, name where given;
//                               with use=id_token an ID token for the client,
//                               which has neither sid nor jti; with
//                               use=access_token a token that says so (at+jwt)
//   GET  /auth                  the provider's own endpoint, for the client "dashboard",
//                               which has PKCE and a secret; it signs in, without a
//                               question, whom PUT /control/user?sub=…&email=…&
//                               email_verified=true&groups=a,b named; with ask=true
//                               a page asks first, for a person in a browser
//   PUT  /control/keys?keys=a,b a new Provider that signs with key a and
//                               publishes a and b; keys are made at first use
//   GET  /control/fetched       how often the keys were fetched
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const grant = 'urn:waymark:test';
const made = new Map();
let issuer;
let answer;
let fetched = 0;
let user = {};
let current;

// key returns a private signing key by name, the same at each call.
function key(name) {
  if (!made.has(name)) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    made.set(name, { ...privateKey.export({ format: 'jwk' }), kid: name, alg: 'RS256', use: 'sig' });
  }
  return made.get(name);
}

// extra are the claims beyond those of the provider.
function extra({ sid, email, email_verified: verified, name }) {
  return { sid, email, email_verified: verified && verified === 'true', name };
}

// start replaces the provider by one with these keys, the first of which signs.
function start(names) {
  const provider = new Provider(issuer, {
    jwks: { keys: names.map(key) },
    clients: [{
      client_id: 'test', client_secret: 'test', token_endpoint_auth_method: 'client_secret_post',
      grant_types: [grant], redirect_uris: [], response_types: [],
    }, {
      client_id: 'dashboard', client_secret: 'password of the dashboard', redirect_uris: [process.env.REDIRECT ?? 'http://localhost/auth/callback'],
      application_type: 'native', token_endpoint_auth_method: 'client_secret_basic',
    }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ ...extra(user), sub: id, groups: user.groups?.split(',') }) }),
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    extraTokenClaims: ({ oidc: { params } }) => extra(params),
    formats: {
      customizers: {
        jwt: ({ oidc: { params } }, _, parts) => { parts.header = params.use === 'access_token' ? undefined : { typ: 'JWT' }; },
      },
    },
    features: { devInteractions: { enabled: false } },
  });
  provider.registerGrantType(grant, async (ctx) => {
    const { sub, audience, ttl, use } = ctx.oidc.params;
    if (use === 'id_token') {
      const token = new provider.IdToken({ sub }, { ctx });
      token.scope = 'openid';
      Object.entries(extra(ctx.oidc.params)).forEach(([name, value]) => token.set(name, value));
      ctx.body = { access_token: await token.issue({ use: 'idtoken', expiresAt: Math.floor(Date.now() / 1000) + Number(ttl) }), token_type: 'Bearer' };
      return;
    }
    const token = new provider.AccessToken({
      client: ctx.oidc.client, accountId: sub, gty: grant, expiresIn: Number(ttl),
      resourceServer: new provider.ResourceServer(audience, {
        audience, scope: '', accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256', kid: names[0] } },
      }),
    });
    ctx.body = { access_token: await token.save(), token_type: 'Bearer', expires_in: token.expiration };
  }, ['sub', 'sid', 'audience', 'ttl', 'email', 'email_verified', 'name', 'use']);
  provider.on('server_error', (_, error) => console.error(error));
  provider.on('grant.error', (_, error) => console.error(error));
  current = provider;
  answer = provider.callback();
}

// interact does what a person does on the provider's pages: sign in, and agree.
async function interact(request, response) {
  const { prompt, params, grantId } = await current.interactionDetails(request, response);
  if (user.ask && prompt.name === 'login' && request.method === 'GET') {
    response.setHeader('Content-Type', 'text/html');
    return response.end(`<!doctype html><title>Provider</title><h1>Who are you?</h1>
      <form method="post"><button>${user.sub}</button></form>
      <form method="post" action="?denied"><button>Nobody</button></form>`);
  }
  if (user.sub === undefined || request.url.endsWith('?denied')) {
    return current.interactionFinished(request, response, { error: 'access_denied' });
  }
  if (prompt.name === 'login') {
    return current.interactionFinished(request, response, { login: { accountId: user.sub } });
  }
  const agreed = grantId ? await current.Grant.find(grantId) : new current.Grant({ accountId: user.sub, clientId: params.client_id });
  agreed.addOIDCScope(params.scope);
  return current.interactionFinished(request, response, { consent: { grantId: await agreed.save() } });
}

const server = createServer((request, response) => {
  const url = new URL(request.url, issuer);
  if (url.pathname === '/control/keys' && request.method === 'PUT') {
    start(url.searchParams.get('keys').split(','));
    return response.writeHead(204).end();
  }
  if (url.pathname === '/control/user' && request.method === 'PUT') {
    user = Object.fromEntries(url.searchParams);
    return response.writeHead(204).end();
  }
  if (url.pathname.startsWith('/interaction/')) {
    return interact(request, response).catch((error) => { console.error(error); response.writeHead(500).end(); });
  }
  if (url.pathname === '/control/fetched') {
    return response.end(String(fetched));
  }
  fetched += url.pathname === '/jwks' ? 1 : 0;
  return answer(request, response);
});

server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  start(['first']);
  console.log(issuer);
});
// Whoever started this is gone.
process.stdin.resume().on('end', () => process.exit());
