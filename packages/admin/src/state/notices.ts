export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly undo?: () => void;
}

let notices: readonly Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

export function getNotices(): readonly Notice[] {
  return notices;
}

export function onNotices(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Shows what was done, with Undo if possible. At most three notices are shown. */
export function notify(notice: Omit<Notice, 'id'>): void {
  lastId += 1;
  set([...notices, { ...notice, id: lastId }].slice(-3));
}

export function dismiss(id: number): void {
  set(notices.filter((one) => one.id !== id));
}

function set(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}
