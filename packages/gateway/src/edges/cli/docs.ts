import { Command } from 'commander';
import { findNearest } from '@assay-mcp/kit/nearest';
import { formatTable, print, printJson, printText } from '@assay-mcp/kit/platform/terminal/print';
import { EXIT } from '../../core/errors.ts';
import type { Done, JsonOptions } from './common-options.ts';
import { printRefusal } from './output.ts';
import type { Runtime } from './runtime.ts';

/** `assay docs` */
export function docsCommand(runtime: Runtime, done: Done): Command {
  return new Command('docs')
    .argument('[topic]', 'what to read about; without one, lists the topics')
    .description('read the guides that come with Assay')
    .option('--path', 'print the path of the guide instead of its text')
    .option('--json', 'print JSON')
    .action(async (topic: string | undefined, options: DocsOptions) =>
      done(await showGuide(runtime, topic, options)),
    );
}

interface DocsOptions extends JsonOptions {
  readonly path?: boolean;
}

/** `assay docs`: the topics, or the text of one guide as Markdown. */
async function showGuide(
  runtime: Pick<Runtime, 'readGuides'>,
  topic: string | undefined,
  { path: isPath = false, json: isJson = false }: DocsOptions,
): Promise<number> {
  const guides = await runtime.readGuides();
  if (topic === undefined) {
    const topics = guides.map((guide) => ({ topic: guide.topic, title: guide.title, path: guide.path }));
    if (isJson) printJson({ topics });
    else
      print(
        formatTable(
          ['TOPIC', 'ABOUT'],
          topics.map((one) => [one.topic, one.title]),
        ),
      );
    return EXIT.done;
  }
  const name = topic.toLowerCase().replace(/\.md$/, '');
  const guide = guides.find((one) => one.topic === name);
  if (guide === undefined) {
    const names = guides.map((one) => one.topic);
    const nearest = findNearest(name, names);
    const hint = nearest === undefined ? `there are ${names.join(', ')}` : `did you mean ${nearest}?`;
    return printRefusal({
      code: 'ARGUMENTS_INVALID',
      reason: `there is no topic ${JSON.stringify(topic)}; ${hint}`,
    });
  }
  if (isJson) printJson(guide);
  else printText(isPath ? guide.path : guide.text.trimEnd());
  return EXIT.done;
}
