import { Fragment, type ReactNode } from 'react';

/** Control, format, private and unassigned characters, and separators: they are invisible or reorder text. */
const UNSEEN = /[^\P{C}\n\t]|[\u2028\u2029\u115f\u1160\u3164\uffa0]|(?!\ufe0f)\p{Variation_Selector}/gu;

/**
 * Text from a server, a client or a model. It is never interpreted as markup, and invisible characters are shown as
 * code points.
 */
export function HostileText({ text }: { readonly text: string }): ReactNode {
  if (text.search(UNSEEN) === -1) return <bdi>{text}</bdi>;
  const parts: ReactNode[] = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(UNSEEN)) {
    parts.push(text.slice(from, index));
    const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    parts.push(
      <span key={index} className="unseen" title="An invisible character">
        U+{code}
      </span>,
    );
    from = index + found.length;
  }
  parts.push(text.slice(from));
  return (
    <bdi>
      {parts.map((part, at) => (
        <Fragment key={at}>{part}</Fragment>
      ))}
    </bdi>
  );
}
