// Passkeys: the browser's WebAuthn, with its bytes as base64url.

import { auth } from "./api.js";

/** Whether the browser has passkeys at all. */
export const passkeys = "PublicKeyCredential" in globalThis;

/** @param {string} text */
const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

/** @param {ArrayBuffer | null | undefined} buffer */
const text = (buffer) =>
  buffer ? btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "") : undefined;

/** @param {any} list */
const credentials = (list = []) => list.map((c) => ({ ...c, id: bytes(c.id) }));

/** Signs in with a passkey that the owner chooses. */
export async function signInWithPasskey() {
  const { ceremony, publicKey } = await auth("POST", "/passkey/options", {});
  const c = /** @type {any} */ (
    await navigator.credentials.get({
      publicKey: { ...publicKey, challenge: bytes(publicKey.challenge), allowCredentials: credentials(publicKey.allowCredentials) },
    })
  );
  const { authenticatorData, clientDataJSON, signature, userHandle } = c.response;
  await auth("POST", "/passkey", {
    ceremony,
    credential: {
      id: c.id, rawId: text(c.rawId), type: c.type,
      response: {
        authenticatorData: text(authenticatorData), clientDataJSON: text(clientDataJSON), signature: text(signature), userHandle: text(userHandle),
      },
    },
  });
}

/** Makes a passkey for the owner who is signed in. @param {string} name */
export async function addPasskey(name) {
  const { ceremony, publicKey } = await auth("POST", "/passkeys/options", {});
  const c = /** @type {any} */ (
    await navigator.credentials.create({
      publicKey: {
        ...publicKey, challenge: bytes(publicKey.challenge), user: { ...publicKey.user, id: bytes(publicKey.user.id) },
        excludeCredentials: credentials(publicKey.excludeCredentials),
      },
    })
  );
  await auth("POST", "/passkeys", {
    ceremony, name,
    credential: {
      id: c.id, rawId: text(c.rawId), type: c.type,
      response: {
        attestationObject: text(c.response.attestationObject), clientDataJSON: text(c.response.clientDataJSON), transports: c.response.getTransports?.() ?? [],
      },
    },
  });
}
