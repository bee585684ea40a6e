// A push service's browser: makes the keys of a subscription, opens what was sealed for it, checks who has signed it.
// Only with the browser's own cryptography. `receiver` is what a test calls.

const text = new TextEncoder();
const packed = (data) => btoa(String.fromCharCode(...new Uint8Array(data))).replace(/[+]/g, "-").replace(/[/]/g, "_").replace(/=/g, "");
const bytes = (given) => Uint8Array.from(atob(given.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
const hkdf = async (secret, salt, info, length) => new Uint8Array(await crypto.subtle.deriveBits(
  { name: "HKDF", hash: "SHA-256", salt, info }, await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]), length * 8));
const join = (...parts) => Uint8Array.from(parts.flatMap((one) => [...one]));
let pair, point, auth;
window.receiver = {
  async keys() {
    pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, false, ["deriveBits"]);
    point = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
    auth = crypto.getRandomValues(new Uint8Array(16));
    return { p256dh: packed(point), auth: packed(auth) };
  },
  async opened(body) {
    const all = bytes(body), salt = all.slice(0, 16), length = all[20], sender = all.slice(21, 21 + length);
    const theirs = await crypto.subtle.importKey("raw", sender, { name: "ECDH", namedCurve: "P-256" }, false, []);
    const shared = new Uint8Array(await crypto.subtle.deriveBits({ name: "ECDH", public: theirs }, pair.privateKey, 256));
    const input = await hkdf(shared, auth, join(text.encode("WebPush: info\0"), point, sender), 32);
    const raw = await hkdf(input, salt, text.encode("Content-Encoding: aes128gcm\0"), 16);
    const iv = await hkdf(input, salt, text.encode("Content-Encoding: nonce\0"), 12);
    const key = await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["decrypt"]);
    const clear = new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, all.slice(21 + length)));
    const end = clear.findLastIndex((one) => one !== 0);
    return { mark: clear[end], text: new TextDecoder().decode(clear.slice(0, end)) };
  },
  async signed(header, subscribed) {
    const [, token, key] = /^vapid t=([^,]+), k=(\S+)$/.exec(header);
    const [head, claims, signature] = token.split(".");
    const public_ = await crypto.subtle.importKey("raw", bytes(key), { name: "ECDSA", namedCurve: "P-256" }, false, ["verify"]);
    const good = await crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, public_, bytes(signature), text.encode(`${head}.${claims}`));
    return { good, isOurs: key === subscribed, head: JSON.parse(atob(head)), claims: JSON.parse(new TextDecoder().decode(bytes(claims))) };
  },
};
