/** Values of forms that tools ask for. Hosts and addresses are reserved for examples. */
export const SAMPLES = {
  base64: 'QSBub3RlLg==',
  color: '#336699',
  cron: '0 0 * * *',
  csv: 'id,name\n1,apple\n',
  date: '2026-01-15',
  dateTime: '2026-01-15T12:00:00Z',
  email: 'ada@example.com',
  hostname: 'example.com',
  html: '<!doctype html><html lang="en"><head><title>A page</title></head><body><h1>A page</h1><p>A note.</p></body></html>',
  ipv4: '192.0.2.1',
  json: '{"items":[{"id":1,"name":"apple"}]}',
  markdown: '# A title\n\nA note.\n',
  mermaid: 'graph TD\n  A --> B\n',
  regex: 'note',
  selector: 'body',
  svg: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
  time: '12:00',
  uuid: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  xml: '<items><item id="1">apple</item></items>',
  yaml: 'name: apple\n',
} as const;

export const GLOBS: readonly string[] = ['**/*', '*.txt'];
