/**
 * The forms a secret may take in a text: verbatim, in JSON (also nested, as when a line quotes JSON), in a URL, and in
 * base64 at each of the three possible offsets.
 */
export function listSecretForms(secret: string): readonly string[] {
  const json = inJson(secret);
  const url = inUrl(secret);
  const bytes = Buffer.from(secret);
  const forms = [
    ...[secret, json, inJson(json), asciiOnly(json), json.replaceAll('/', '\\/')],
    ...[url, url.replaceAll('%20', '+'), url.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase())],
    ...[0, 1, 2].flatMap((shift) => [inBase64(bytes, shift, 'base64'), inBase64(bytes, shift, 'base64url')]),
  ];
  return [...new Set(forms)];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** As written by JSON encoders that escape everything beyond ASCII. */
function asciiOnly(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Lone surrogates cannot be encoded in a URL. */
function inUrl(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** The base64 characters that depend only on the secret, not on its neighbours. */
function inBase64(bytes: Buffer, shift: number, alphabet: 'base64' | 'base64url'): string {
  const shifted = Buffer.concat([Buffer.alloc(shift), bytes]);
  const from = Math.ceil((shift * 8) / 6);
  const to = Math.floor((shifted.length * 8) / 6);
  return shifted.toString(alphabet).slice(from, to);
}
