import { useEffect, useRef } from 'react';

/** Inside these elements, keys are not commands. */
const TYPED_IN =
  'input:not([type=checkbox]):not([type=radio]):not([type=file]), textarea, select, [contenteditable], [role="dialog"]';

/** Single-key commands of a page. Ignored during text input or while a dialog is open. */
export function useKeys(commands: Readonly<Record<string, () => void>>): void {
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      // Holding a key down must not answer several requests.
      if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const target = event.target instanceof HTMLElement ? event.target : undefined;
      if (target?.closest(TYPED_IN)) return;
      const command = latest.current[event.key];
      if (command === undefined) return;
      event.preventDefault();
      command();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

/** `j` and `k` move the focus between the rows of the page: elements with `data-row`. */
export function useRowKeys(): void {
  const move = (step: 1 | -1): void => {
    const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')].filter(
      (row) => !row.matches(':disabled'),
    );
    const now = rows.findIndex((row) => row.contains(document.activeElement));
    const next = rows[now === -1 ? (step === 1 ? 0 : rows.length - 1) : now + step];
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
}
