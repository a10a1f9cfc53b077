import type { Label } from '../../api/label.ts';
import { toPrintable } from '../../core/printable.ts';
import { print, printError, printJson, formatTable } from './output.ts';
import type { Runtime } from './runtime.ts';
import { apiPath, listAll, withApi } from './with-api.ts';
import type { JsonOptions } from './with-opened.ts';

export interface LabelOptions extends JsonOptions {
  readonly clear?: string;
}

/**
 * `assay policy labels`: the subjects that have seen untrusted content or private data, since when, and through which
 * tool.
 */
export function showLabels(runtime: Runtime, options: LabelOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const { clear: subject, json } = options;
    if (subject !== undefined) {
      const cleared = await api.send({ method: 'DELETE', path: apiPath`/labels/${subject}` });
      if (cleared.ok) printError(`The labels of ${toPrintable(JSON.stringify(subject))} are cleared.`);
      return cleared;
    }
    const listed = await listAll<Label>(api, '/labels', { name: 'labels' });
    if (!listed.ok) return listed;
    if (json === true) printJson({ labels: listed.value });
    else show(listed.value);
    return listed;
  });
}

function show(labels: readonly Label[]): void {
  if (labels.length === 0) print('No labels: no caller has seen untrusted content or private data.');
  else
    print(
      formatTable(
        ['SUBJECT', 'LABEL', 'BY', 'SINCE'],
        labels.map(({ subject, label, source, since }) => [
          toPrintable(subject),
          label,
          toPrintable(source),
          since,
        ]),
      ),
    );
}
