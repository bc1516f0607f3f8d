// A real OpenID Connect provider (npm oidc-provider) for oidc_test.go: it gives
// JWT access tokens for test users without any interaction, and changes its
// keys on demand.
//
//   node provider.mjs [port]    prints its issuer; ends when its input ends
//   POST /token                 the provider's own endpoint, grant type
//                               urn:waymark:test with sub, audience, ttl, and
//                               sid, email, name where given
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

// key returns a private signing key by name, the same at each call.
function key(name) {
  if (!made.has(name)) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    made.set(name, { ...privateKey.export({ format: 'jwk' }), kid: name, alg: 'RS256', use: 'sig' });
  }
  return made.get(name);
}

// start replaces the provider by one with these keys, the first of which signs.
function start(names) {
  const provider = new Provider(issuer, {
    jwks: { keys: names.map(key) },
    clients: [{
      client_id: 'test', client_secret: 'test', token_endpoint_auth_method: 'client_secret_post',
      grant_types: [grant], redirect_uris: [], response_types: [],
    }],
    extraTokenClaims: ({ oidc: { params: { sid, email, name } } }) => ({ sid, email, name }),
    features: { devInteractions: { enabled: false } },
  });
  provider.registerGrantType(grant, async (ctx) => {
    const { sub, audience, ttl } = ctx.oidc.params;
    const token = new provider.AccessToken({
      client: ctx.oidc.client, accountId: sub, gty: grant, expiresIn: Number(ttl),
      resourceServer: new provider.ResourceServer(audience, {
        audience, scope: '', accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256', kid: names[0] } },
      }),
    });
    ctx.body = { access_token: await token.save(), token_type: 'Bearer', expires_in: token.expiration };
  }, ['sub', 'sid', 'audience', 'ttl', 'email', 'name']);
  provider.on('server_error', (_, error) => console.error(error));
  provider.on('grant.error', (_, error) => console.error(error));
  answer = provider.callback();
}

const server = createServer((request, response) => {
  const url = new URL(request.url, issuer);
  if (url.pathname === '/control/keys' && request.method === 'PUT') {
    start(url.searchParams.get('keys').split(','));
    return response.writeHead(204).end();
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
