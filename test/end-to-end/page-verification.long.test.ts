// A verification in a real browser: started from the server, reported on Overview, with evidence on the tool.
import { beforeAll, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/assay.ts';
import { lyingServer, type Lying } from '../support/lying.ts';
import { accessibilityFindings, signInBy, startBrowser, type SignedInPage } from '../support/pages.ts';
import { tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

const home = tempDir();
let server: Lying;
let assay: Gateway;
let signedIn: SignedInPage;
beforeAll(async () => {
  server = lyingServer();
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  assay = await startGateway({ servers: { lying: server.entry }, home });
  await assay.settled();
  signedIn = await signInBy(await startBrowser(), assay, token);
  signedIn.page.setDefaultTimeout(60_000);
});

it('a contradiction found by Verify is shown on the server, on Overview, and with evidence on the tool', async () => {
  const { page } = signedIn;
  const at = (path: string): string => `http://127.0.0.1:${assay.port}/admin/${path}`;
  expect(await page.getByRole('alert').count()).toBe(0);
  await page.goto(at('servers?server=lying'));
  const panel = page.getByRole('dialog', { name: 'lying' });
  await panel.getByLabel('Also use the arguments of recorded calls').check();
  const asked = page.waitForRequest(/\/verify\?recorded=true$/);
  await panel.getByRole('button', { name: 'Verify' }).click();
  await asked;
  await panel.getByText('Starting the server').waitFor();
  // As long as it takes: on a busy machine each of its many steps is slow.
  await panel.getByText('1 hint was contradicted:').waitFor({ timeout: 0 });
  await panel.getByText(`peek: Read-only: created ${server.written}`).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);

  await page.goto(at(''));
  const alarm = page.getByRole('alert');
  await alarm.getByText('1 tool was observed to contradict its hints').waitFor();
  await alarm.getByRole('link', { name: 'lying_peek' }).click();
  const tool = page.getByRole('dialog');
  const evidence = tool.getByRole('list', { name: 'Evidence' });
  await evidence.getByText(`created ${server.written}`).waitFor();
  await evidence.getByText('by call 1 with {}').waitFor();
  await tool.getByText('Contradicted by observations').waitFor();
  await tool.getByRole('radiogroup', { name: 'Override of Read-only' }).getByText('Inherit: no').waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(signedIn.complaints).toEqual([]);
});
