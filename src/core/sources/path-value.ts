import { err, ok, type Result } from '../result.ts';

/**
 * The text of an argument, encoded so that it stays one piece of one segment of a path. Servers and proxies that decode
 * `%2F` before they resolve dot segments (RFC 3986, section 5.2.4) are many, so a dot segment between its slashes is
 * refused as well. The error is a phrase.
 */
export function pathValue(text: string): Result<string, string> {
  if (text === '') return err('is empty, and a path has no empty place for it');
  if (!text.isWellFormed()) return err('holds half of a character');
  if (text.split(/[/\\]/).some(isDotSegment))
    return err('holds "." or "..", which would lead to another path');
  return ok(encodeURIComponent(text));
}

/** Whether a URL parser, or a server that decodes once more, takes it for a step in the tree. */
export function isDotSegment(segment: string): boolean {
  const plain = segment.replace(/%(?:25)*2e/gi, '.');
  return plain === '.' || plain === '..';
}
