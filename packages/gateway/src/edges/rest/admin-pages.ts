import { PAGE_HEADERS } from '../../core/web-page.ts';

/** Reads a file of the built pages, such as `index.html` or `assets/main-1a2b.js.br`. Undefined if there is none. */
export type PageFile = (name: string) => Promise<Uint8Array<ArrayBuffer> | undefined>;

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The build adds these compressed versions of each file; the first that the browser accepts is sent. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** File names contain a hash of their content, so browsers may cache them forever. */
const ASSET = /^\/admin\/(assets\/[\w-]+\.(?:js|css|svg))$/;

/**
 * A file of the admin pages. Every other path below `/admin` is a page, routed in the browser. Undefined if there is no
 * such file.
 */
export async function findAdminPage(
  path: string,
  acceptEncoding: string | undefined,
  file: PageFile,
): Promise<Response | undefined> {
  const asset = ASSET.exec(path)?.[1];
  if (asset === undefined && path.startsWith('/admin/assets')) return undefined;
  const name = asset ?? 'index.html';
  const found = await encoded(name, acceptEncoding ?? '', file);
  if (found === undefined) return undefined;
  const headers = new Headers({
    ...PAGE_HEADERS,
    'cross-origin-opener-policy': 'same-origin',
    'content-type': TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    'cache-control': asset === undefined ? 'no-cache' : 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
  });
  if (found.encoding !== undefined) headers.set('content-encoding', found.encoding);
  return new Response(found.bytes, { headers });
}

interface EncodedFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly encoding: string | undefined;
}

async function encoded(name: string, accepted: string, file: PageFile): Promise<EncodedFile | undefined> {
  for (const [encoding, suffix] of ENCODINGS) {
    if (!new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(?:\\.0*)?(?:,|$))`).test(accepted)) continue;
    const bytes = await file(name + suffix);
    if (bytes !== undefined) return { bytes, encoding };
  }
  const bytes = await file(name);
  return bytes && { bytes, encoding: undefined };
}
