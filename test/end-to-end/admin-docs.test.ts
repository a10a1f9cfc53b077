import { beforeAll, describe, expect, it } from 'vitest';
import { REFUSAL_CODES } from '../../packages/gateway/src/core/errors.ts';
import { adminClient, verdictOf } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { at, isObject, parseJson } from '../support/json.ts';
import { faultsOf } from '../support/openapi.ts';

let assay: Gateway;
beforeAll(async () => {
  assay = await startGateway({ servers: {} });
});

describe('/openapi.json', () => {
  it('needs no token, and is OpenAPI 3.1 whose examples match its schemas', async () => {
    const answer = await adminClient(assay).get('/openapi.json');
    expect([answer.status, answer.type]).toEqual([200, 'application/json']);
    expect(faultsOf(parseJson(answer.text))).toEqual([]);
  });

  it('documents for every operation its errors, and that it needs a token', async () => {
    const document = (await adminClient(assay).get('/openapi.json')).json();
    const paths = at(document, 'paths');
    for (const item of Object.values(isObject(paths) ? paths : {}))
      for (const operation of Object.values(isObject(item) ? item : {})) {
        expect(at(operation, 'security')).toEqual([{ bearer: [] }]);
        for (const status of ['401', '403', '429', '500', '503'])
          expect(at(operation, 'responses', status, 'content', 'application/problem+json')).toBeDefined();
      }
  });

  it('is not readable by foreign pages', async () => {
    for (const path of ['/openapi.json', '/docs', '/docs/swagger-ui.css'])
      expect(verdictOf(await adminClient(assay).get(path, { host: 'evil.example' }))).toBe(
        '403 HOST_FORBIDDEN',
      );
  });
});

describe('/docs', () => {
  it('needs no token, loads nothing from elsewhere, and has no inline script', async () => {
    const page = await adminClient(assay).get('/docs');
    expect([page.status, page.type]).toEqual([200, 'text/html']);
    expect(page.headers['content-security-policy']).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self'",
    );
    expect(page.text).not.toMatch(/<script(?![^>]* src="\/)[^>]*>|<style|style="|https?:/);
    const parts = [...page.text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(parts.length).toBeGreaterThan(3);
    for (const path of parts)
      expect([path, (await adminClient(assay).get(path)).status]).toEqual([path, 200]);
  });

  it("documents each code at the URL in a problem's type", async () => {
    const page = await adminClient(assay).get('/docs/errors');
    expect(REFUSAL_CODES.filter((code) => !page.text.includes(`id="${code}"`))).toEqual([]);
  });

  it('serves nothing else', async () => {
    for (const path of [
      '/docs/x',
      '/docs/../package.json',
      '/docs/%2e%2e/main.js',
      '/docs/swagger-ui-bundle.js.map',
    ])
      expect(verdictOf(await adminClient(assay).get(path))).toBe('404 ENDPOINT_UNKNOWN');
  });
});
