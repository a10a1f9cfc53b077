import * as z from 'zod';
import { BUNDLE, EXPORT_INPUT, IMPORT_INPUT, IMPORT_PLAN } from '../../api/bundle.ts';
import type { BundleJson } from '../../core/bundle/bundle.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Refusal } from '../../core/refusal.ts';
import { type AdminDeps, findExecuteRefusal } from './admin-deps.ts';
import type { Failure } from './failure.ts';
import { route, type Reply, type Route } from './route.ts';

const MIB = 1024 * 1024;

const EXAMPLE = { kind: 'setting', version: 1, id: 'limits.drainMs', body: 5_000 };

type BundleDeps = Pick<AdminDeps, 'bundles' | 'mayExecute'>;

/** Everything that operators created, as one document. */
export function bundleRoutes(deps: BundleDeps): readonly Route[] {
  return [exportRoute(deps), sealedExportRoute(deps), importRoute(deps)];
}

const EXPORTED = { about: 'The bundle.', schema: BUNDLE };

const EXPORT_QUERY = z.object({
  toolset: z.string().optional().meta({
    description: 'Names of toolsets, separated by commas. Default: everything.',
    example: 'triage,release',
  }),
});

function exportRoute({ bundles }: BundleDeps): Route {
  return route(
    {
      method: 'get',
      path: '/export',
      id: 'export',
      summary: 'Export everything that operators created, or some toolsets, without secrets',
      about: 'The same state gives the same bytes, except for `exportedAt`.',
      scope: 'admin',
      query: EXPORT_QUERY,
      answer: EXPORTED,
      refusals: ['TOOLSET_UNKNOWN'],
    },
    async ({ query }) => exported(await bundles.export({ toolsets: query.toolset?.split(',') })),
  );
}

function sealedExportRoute({ bundles }: BundleDeps): Route {
  return route(
    {
      method: 'post',
      path: '/export',
      id: 'exportWithSecrets',
      summary: 'Export everything, with secrets encrypted by a passphrase',
      body: {
        schema: EXPORT_INPUT,
        examples: { sealed: { passphrase: 'correct horse battery staple' } },
      },
      answer: EXPORTED,
    },
    async ({ body }) => exported(await bundles.export(body)),
  );
}

function exported(done: Result<BundleJson, Refusal>): Result<Reply, Failure> {
  if (!done.ok) return done;
  const { exportedAt, ...rest } = done.value;
  const headers = {
    'content-disposition': `attachment; filename="assay-${exportedAt.slice(0, 10)}.json"`,
  };
  return ok({ kind: 'one', body: done.value, of: rest, headers });
}

function importRoute(deps: BundleDeps): Route {
  return route(
    {
      method: 'post',
      path: '/import',
      id: 'import',
      summary: 'Plan or apply the import of a bundle',
      about:
        'The import is atomic. Anything that the bundle does not contain is kept. Commands, code search, modules and documents in files require a token with the scope `execute`, and Assay must listen on loopback.',
      body: {
        schema: IMPORT_INPUT,
        examples: { dryRun: { bundle: { assay: 1, records: [EXAMPLE] } } },
        limits: { bytes: 16 * MIB, depth: 90 },
      },
      answer: { about: 'The outcome for each item.', schema: IMPORT_PLAN },
      refusals: ['BUNDLE_LOCKED', 'HINTS_CONTRADICT', 'TOOLSETS_FULL', 'EXECUTE_OFF', 'KEY_UNUSABLE'],
    },
    async (call) => {
      const importer = {
        subject: call.identity.subject,
        executeRefusal: findExecuteRefusal(deps, call),
      };
      const done = await deps.bundles.import(call.body, importer);
      if (done.ok) return ok({ kind: 'one', body: done.value });
      const base = call.pointerTo('bundle');
      if (done.error.code === 'HINTS_CONTRADICT')
        return err({ refusal: done.error, pointer: `${base}${done.error.at ?? ''}` });
      if (done.error.code !== 'BUNDLE_INVALID') return done;
      const fieldErrors = done.error.fieldErrors.map((fieldError) => ({
        ...fieldError,
        at: `${base}${fieldError.at}`,
      }));
      return err({ code: 'BODY_INVALID', fieldErrors });
    },
  );
}
