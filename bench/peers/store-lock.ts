// Another program that opens a store's file: POST /lock locks it exclusively, /look takes no lock, and /free ends both.
// node store-lock.ts FILE
import { listen } from './listen.ts';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';

const STATEMENTS: Readonly<Record<string, string>> = {
  '/look': 'begin',
  '/lock': 'begin exclusive',
  '/free': 'rollback',
};

const database = openDatabase(process.argv[2] ?? '', { mode: 'write' });

listen((request, response) => {
  const statement = STATEMENTS[request.url ?? ''];
  request.resume().on('end', () => {
    if (statement !== undefined) database.exec(statement);
    response.writeHead(statement === undefined ? 404 : 204).end();
  });
});
