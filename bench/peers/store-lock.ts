// Another program that opens a store's file: POST /lock locks it exclusively, /look takes no lock, and /free ends both.
// node store-lock.ts FILE
import SqliteDatabase from 'better-sqlite3';
import { listen } from './listen.ts';

const STATEMENTS: Readonly<Record<string, string>> = {
  '/look': 'begin',
  '/lock': 'begin exclusive',
  '/free': 'rollback',
};

const database = new SqliteDatabase(process.argv[2] ?? '', { fileMustExist: true });

listen((request, response) => {
  const statement = STATEMENTS[request.url ?? ''];
  request.resume().on('end', () => {
    if (statement !== undefined) database.exec(statement);
    response.writeHead(statement === undefined ? 404 : 204).end();
  });
});
