/** An observed process gets a page from it (RFC 6761 reserves the host); all other requests are refused. */
export const PAGE_URL = 'http://page.test/';
