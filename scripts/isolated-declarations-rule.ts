import type { Rule } from 'eslint';
import ts from 'typescript';

/** An ESLint rule: what a file exports has its type written out, as `isolatedDeclarations` of the compiler demands. */
export const isolatedDeclarations: Rule.RuleModule = {
  meta: { type: 'problem', schema: [], messages: { inferred: '{{text}}' } },
  create(context) {
    const { filename, sourceCode } = context;
    return {
      Program() {
        const { diagnostics = [] } = ts.transpileDeclaration(sourceCode.text, {
          fileName: filename,
          reportDiagnostics: true,
          compilerOptions: { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2024, strict: true },
        });
        for (const { start = 0, messageText } of diagnostics)
          context.report({
            loc: sourceCode.getLocFromIndex(start),
            messageId: 'inferred',
            data: { text: ts.flattenDiagnosticMessageText(messageText, ' ') },
          });
      },
    };
  },
};
