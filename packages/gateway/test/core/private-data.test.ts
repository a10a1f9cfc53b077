import { expect, it } from 'vitest';
import { namesPrivateData } from '../../src/core/private-data.ts';

it.each<[args: readonly string[], env: Readonly<Record<string, string>>]>([
  [['-y', '@modelcontextprotocol/server-filesystem', '/home/me/notes'], {}],
  [['server-filesystem', '.'], {}],
  [['server-filesystem', '~/notes'], {}],
  [['server-filesystem', 'C:\\Users\\me'], {}],
  [['mcp-server-git', '--repository=/repo'], {}],
  [['run', '--mount', 'type=bind,src=/home/me,dst=/data', 'image'], {}],
  [['run', '-v', 'data:/data', 'image'], {}],
  [['server-postgres', 'postgresql://localhost/db'], {}],
  [['server', 'mongodb+srv://host/db'], {}],
  [['server', '--db', 'host=localhost dbname=sales user=me'], {}],
  [['server-sqlite', '--db-path', 'sales.db'], {}],
  [[], { MEMORY_FILE_PATH: '/home/me/memory.json' }],
  [[], { DATABASE_URL: 'whatever' }],
  [[], { PGHOST: 'db.internal' }],
])('a server with %j %j receives private data', (args, env) => {
  expect(namesPrivateData(args, env)).toBe(true);
});

it.each<[args: readonly string[], env: Readonly<Record<string, string>>]>([
  [['-y', '@modelcontextprotocol/server-everything'], {}],
  [['/opt/servers/weather/index.js', '--port=8080', '--verbose'], {}],
  [['./server.py'], {}],
  [['server', 'https://api.example.com/v1', '--url=https://example.com/a/b.db/c'], {}],
  [[], { API_KEY: 'abc/def', LOG_LEVEL: 'info', BASE_URL: 'https://example.com/data' }],
  [[], { PATH: '/usr/bin:/bin', HOME: '/home/me', NODE_EXTRA_CA_CERTS: '/etc/ca.pem' }],
])('a server with %j %j does not receive private data', (args, env) => {
  expect(namesPrivateData(args, env)).toBe(false);
});
