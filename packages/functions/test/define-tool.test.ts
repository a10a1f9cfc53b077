import { createRequire } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../src/define-tool.ts';
import { GATEWAY, ROOT, writeText } from '../../../test/support/paths.ts';

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.NodeNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  types: [],
  lib: ['lib.es2024.d.ts'],
  skipLibCheck: true,
};

/** The compiler's output for a module that uses `defineTool` from the built package. */
function diagnosticsOf(text: string): readonly string[] {
  const path = writeText(text, 'module.ts');
  const paths = {
    'assay-mcp': [join(GATEWAY, 'dist', 'define-tool.d.ts')],
    zod: [join(ROOT, 'node_modules', 'zod', 'index.d.ts')],
  };
  const program = ts.createProgram([path], { ...OPTIONS, paths });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n').split('\n', 1)[0] ?? '');
}

describe('defineTool', () => {
  it('gives the function the types of its schema', () => {
    const tool = defineTool({
      name: 'add',
      input: z.object({ a: z.number(), b: z.number().default(1) }),
      run: ({ a, b }) => a.toFixed(b),
    });
    expect(tool.name).toBe('add');
    expect(Object.isFrozen(tool)).toBe(true);
  });

  it('is exported by the package, with types that infer the arguments', () => {
    const require = createRequire(join(GATEWAY, 'dist', 'main.js'));
    expect(require.resolve('assay-mcp')).toBe(join(GATEWAY, 'dist', 'define-tool.js'));
    expect(require.resolve('assay-mcp/package.json')).toBe(join(GATEWAY, 'package.json'));
    const diagnostics = diagnosticsOf(`
      import { defineTool } from 'assay-mcp';
      import { z } from 'zod';
      const input = z.object({ a: z.string() });
      export const good = defineTool({ name: 'good', input, run: ({ a }, ctx) => (ctx.progress(1), a.length) });
      export const bad = defineTool({ name: 'bad', input, run: ({ b }) => b });
      export const json = defineTool({ name: 'json', input: { type: 'object' }, run: (args) => args['any'] });`);
    expect(diagnostics).toEqual(["Property 'b' does not exist on type '{ a: string; }'."]);
  });
});
