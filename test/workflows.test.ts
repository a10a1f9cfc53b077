import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { at, isObject, type Json, listAt, parseJson, textAt, type JsonObject } from './support/json.ts';
import { ROOT } from './support/paths.ts';

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
// YAML of these files has no tags or dates, so all of it is JSON.
const parse = (file: string): Json => load(read(file)) as Json;

const WORKFLOWS = globSync('.github/workflows/*.yml', { cwd: ROOT });
const ACTIONS = globSync('action.yml', { cwd: ROOT });
const SCRIPTS = Object.keys(membersOf(parseJson(read('package.json')), 'scripts'));

function membersOf(value: Json | undefined, ...path: readonly string[]): JsonObject {
  const found = at(value, ...path);
  return isObject(found) ? found : {};
}

function jobsOf(file: string): readonly (readonly [string, JsonObject])[] {
  return Object.entries(membersOf(parse(file), 'jobs')).map(([name, job]) => [name, job as JsonObject]);
}

/** The steps of all jobs, or of a composite action. */
function stepsOf(file: string): readonly Json[] {
  const steps = jobsOf(file).flatMap(([, job]) => listAt(job, 'steps'));
  return steps.length > 0 ? steps : listAt(parse(file), 'runs', 'steps');
}

function commandsOf(file: string): readonly string[] {
  return stepsOf(file).flatMap((step) => (at(step, 'run') === undefined ? [] : [textAt(step, 'run')]));
}

it('there are workflows', () => {
  expect(WORKFLOWS.length).toBeGreaterThan(2);
});

describe.each([...WORKFLOWS, ...ACTIONS])('%s', (file) => {
  it('pins every action by its digest, and names the version beside it', () => {
    const uses = [...read(file).matchAll(/^ *-? *uses: *(.*)$/gm)].map(([, action = '']) => action);
    expect(uses.filter((one) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(one))).toEqual([]);
  });

  it('passes values to scripts as variables only, so that no value is run', () => {
    expect(commandsOf(file).filter((run) => run.includes('${{'))).toEqual([]);
  });

  it('has scripts that bash can parse', () => {
    for (const run of commandsOf(file)) {
      const { stderr, status } = spawnSync('bash', ['-n'], { input: run, encoding: 'utf8' });
      expect({ run, stderr, status }).toEqual({ run, stderr: '', status: 0 });
    }
  });
});

describe.each(WORKFLOWS)('%s', (file) => {
  it('may read the repository and nothing else, except in jobs that say so', () => {
    expect(at(parse(file), 'permissions')).toEqual({ contents: 'read' });
    const writing = jobsOf(file).filter(([, job]) =>
      JSON.stringify(job['permissions'] ?? {}).includes('write'),
    );
    const known: Readonly<Record<string, readonly string[]>> = {
      '.github/workflows/codeql.yml': ['analyze'],
      '.github/workflows/docs.yml': ['deploy'],
      '.github/workflows/release.yml': ['publish', 'github'],
    };
    expect(writing.map(([name]) => name)).toEqual(known[file] ?? []);
  });

  it('ends jobs that hang, and older runs', () => {
    expect(jobsOf(file).filter(([, job]) => typeof job['timeout-minutes'] !== 'number')).toEqual([]);
    expect(at(parse(file), 'concurrency', 'group')).toBeDefined();
  });

  it('leaves no token in the checked out repository', () => {
    const checkouts = stepsOf(file).filter((step) => JSON.stringify(step).includes('actions/checkout@'));
    expect(checkouts.filter((step) => at(step, 'with', 'persist-credentials') !== false)).toEqual([]);
  });

  it('names scripts of package.json and files that exist', () => {
    const text = commandsOf(file).join('\n');
    const scripts = [...text.matchAll(/npm (?:run )?(?!(?:ci|run|config)\b)([\w:]+)/g)].map(
      ([, name = '']) => name,
    );
    expect(scripts.filter((name) => !SCRIPTS.includes(name))).toEqual([]);
    const paths = [...text.matchAll(/(?<=\s)(?:test|packages|scripts|examples)\/[\w./-]+/g)].map(
      ([path]) => path,
    );
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe.each(globSync('.github/ISSUE_TEMPLATE/!(config).yml', { cwd: ROOT }))('%s', (file) => {
  const form = parse(file);
  const fields = listAt(form, 'body').filter((field) => at(field, 'type') !== 'markdown');

  // https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-issue-forms
  it('is a form that GitHub accepts', () => {
    expect(Object.keys(form as JsonObject)).toEqual(['name', 'description', 'labels', 'body']);
    for (const field of listAt(form, 'body')) {
      const type = textAt(field, 'type');
      const members = [
        'type',
        ...(type === 'markdown' ? [] : ['id']),
        'attributes',
        ...(at(field, 'validations') === undefined ? [] : ['validations']),
      ];
      expect(Object.keys(field as JsonObject)).toEqual(members);
      const attributes = Object.keys(membersOf(field, 'attributes'));
      expect(attributes.filter((name) => !ATTRIBUTES[type]?.includes(name))).toEqual([]);
    }
  });

  it('asks each question once, and offers each answer once', () => {
    for (const path of [['id'], ['attributes', 'label']]) {
      const names = fields.map((field) => textAt(field, ...path));
      expect(new Set(names).size).toBe(names.length);
    }
    for (const field of fields.filter((one) => at(one, 'attributes', 'options') !== undefined)) {
      const options = listAt(field, 'attributes', 'options').map((option) => JSON.stringify(option));
      expect(new Set(options).size).toBe(options.length);
    }
  });
});

const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  markdown: ['value'],
  input: ['label', 'description', 'placeholder', 'value'],
  textarea: ['label', 'description', 'placeholder', 'value', 'render'],
  dropdown: ['label', 'description', 'multiple', 'options', 'default'],
  checkboxes: ['label', 'description', 'options'],
};

it('dependency updates cover packages and actions', () => {
  const updates = listAt(parse('.github/dependabot.yml'), 'updates');
  expect(updates.map((update) => textAt(update, 'package-ecosystem'))).toEqual(['npm', 'github-actions']);
});

it('each input of the action reaches its script as a variable that the script uses', () => {
  const action = parse('action.yml');
  const steps = stepsOf('action.yml');
  const variables = Object.assign({}, ...steps.map((step) => membersOf(step, 'env'))) as JsonObject;
  const folders = steps.map((step) => at(step, 'working-directory'));
  const passed = [...Object.values(variables), ...folders].filter((value) => value !== undefined);
  const inputs = Object.keys(membersOf(action, 'inputs'));
  expect(passed.toSorted()).toEqual(inputs.map((name) => `\${{ inputs.${name} }}`).toSorted());
  const text = commandsOf('action.yml').join('\n');
  expect(
    Object.keys(variables).filter((name) => !text.includes(`$${name}`) && !text.includes(`\${${name}`)),
  ).toEqual([]);
});
