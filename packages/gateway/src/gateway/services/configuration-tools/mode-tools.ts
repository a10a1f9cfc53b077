import type { Hints } from '@assay-mcp/kit/hint';
import { ok } from '@assay-mcp/kit/result';
import type { SwitchNames } from '../toolsets/mode.ts';
import type { ConfigurationContext } from './context.ts';
import { NO_INPUT, type OwnToolSpec } from './own-tool.ts';
import { describeActiveToolset, ACTIVE } from './active-toolset.ts';

// Not read-only: it changes what all clients of the process see. Nothing is lost, a second call changes nothing more,
// and no server is contacted.
const SWITCHING: Hints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** `enter-configuration-mode`, shown in normal mode. */
export function createEnterTool(
  context: ConfigurationContext,
  names: SwitchNames,
  configurationTools: readonly Pick<OwnToolSpec, 'name' | 'title'>[],
): OwnToolSpec {
  const list = configurationTools.map(({ name, title }) => `- ${name}: ${title}`).join('\n');
  return {
    name: names.enter,
    title: 'Enter configuration mode',
    description:
      'Switch to configuration mode to manage toolsets and tool annotations. This will show only configuration tools and hide operational tools.' +
      `\n\nThe tools that you have there:\n${list}`,
    annotations: SWITCHING,
    inputSchema: NO_INPUT,
    output: {
      properties: { mode: { const: 'configuration' }, tools: { type: 'array', items: { type: 'string' } } },
    },
    refusal: () =>
      context.mode.current === 'normal'
        ? undefined
        : { code: 'MODE_DIFFERS', tool: names.enter, mode: 'configuration', switch: names.exit },
    run: () => {
      context.mode.set('configuration');
      return Promise.resolve(
        ok({
          text: `Assay is in configuration mode. List the tools again; these are there now:\n${list}`,
          structured: { mode: 'configuration', tools: configurationTools.map(({ name }) => name) },
        }),
      );
    },
  };
}

/** `exit-configuration-mode`, shown in configuration mode. */
export function createExitTool(context: ConfigurationContext, names: SwitchNames): OwnToolSpec {
  return {
    name: names.exit,
    title: 'Exit configuration mode',
    description:
      'Exit configuration mode and return to normal operation with your equipped toolset.' +
      `\n\nNormal mode shows the tools of the equipped toolset and "${names.enter}". Without an equipped toolset it shows "${names.enter}" alone.`,
    annotations: SWITCHING,
    inputSchema: NO_INPUT,
    output: { properties: { mode: { const: 'normal' }, ...ACTIVE } },
    refusal: () =>
      context.mode.current === 'configuration'
        ? undefined
        : { code: 'MODE_DIFFERS', tool: names.exit, mode: 'normal', switch: names.enter },
    run: async (_, subject) => {
      context.mode.set('normal');
      const { text, structured } = await describeActiveToolset(context, subject);
      return ok({
        text: `Assay is in normal mode. List the tools again. ${text}`,
        structured: { mode: 'normal', ...structured },
      });
    },
  };
}
