import type { Rule } from 'eslint';
import type { Node, ObjectExpression, Property } from 'estree';

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

/**
 * An ESLint rule: a tool of our own declares all four hints as plain values and says why in a comment. With `each`, every
 * hint has a comment of its own.
 */
export const toolHints: Rule.RuleModule = {
  meta: {
    type: 'problem',
    schema: [{ type: 'object', properties: { each: { type: 'boolean' } }, additionalProperties: false }],
    messages: {
      missing: 'This tool does not declare {{hint}}: clients then assume its default, which may not be true.',
      value: 'Write {{hint}} as true or false, so that a review sees it.',
      reason: 'Say in a comment above why {{hint}} has this value.',
    },
  },
  create(context) {
    const { each = false } = (context.options[0] ?? {}) as { readonly each?: boolean }; // checked by `schema`
    const isExplained = (node: Node): boolean => context.sourceCode.getCommentsBefore(node).length > 0;
    return {
      ObjectExpression(node) {
        const hints = new Map(node.properties.map((member) => [nameOf(member), member as Property]));
        if (!HINTS.some((hint) => hints.has(hint))) return;
        const isWholeExplained = !each && isExplained(statementOf(node));
        for (const hint of HINTS) {
          const member = hints.get(hint);
          const report = (messageId: string): void =>
            context.report({ node: member ?? node, messageId, data: { hint } });
          if (member === undefined) report('missing');
          else if (!isBoolean(member.value)) report('value');
          else if (!isWholeExplained && !isExplained(member)) report('reason');
        }
      },
    };
  },
};

function nameOf(member: ObjectExpression['properties'][number]): string | undefined {
  return member.type === 'Property' && member.key.type === 'Identifier' ? member.key.name : undefined;
}

function isBoolean(value: Property['value']): boolean {
  return value.type === 'Literal' && typeof value.value === 'boolean';
}

/** What a comment on the whole object stands before: its member of another object, or its declaration. */
function statementOf({ parent }: Rule.NodeParentExtension): Node {
  return parent.type === 'VariableDeclarator' ? ((parent as Rule.Node).parent ?? parent) : parent;
}
