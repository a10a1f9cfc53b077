/** The text, or its first `maxLength` characters (UTF-16 code units) followed by `…`. Never splits a surrogate pair. */
export function shorten(text: string, maxLength: number): string {
  return text.length > maxLength ? `${truncateText(text, maxLength)}…` : text;
}

/** At most the first `maxLength` characters: one less where the last would be half of a surrogate pair. */
export function truncateText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxLength - 1 : maxLength);
}
