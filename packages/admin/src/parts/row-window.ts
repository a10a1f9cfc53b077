import { useLayoutEffect, useRef, useState, type RefObject } from 'react';

/** Number of rows rendered beyond the visible ones, so that they are ready before they scroll into view. */
const OVERSCAN = 8;
/** The window moves by this many rows, so that most scroll events render nothing. */
const STEP = 4;

interface RowWindow {
  /** The element that scrolls. */
  readonly box: RefObject<HTMLDivElement | null>;
  /** Indexes of the rows to render. */
  readonly shown: readonly number[];
  /** Scrolls only if the row is not fully visible. */
  readonly reveal: (index: number) => void;
}

/** Chooses the rows of a long list to render. All rows must have the same height. */
export function useRowWindow(count: number, rowHeightPx: number): RowWindow {
  const box = useRef<HTMLDivElement>(null);
  const [{ from, to }, setRange] = useState(() => ({
    from: 0,
    // Used until the box is measured: measuring it here would force another layout.
    to: Math.ceil(window.innerHeight / rowHeightPx),
  }));
  const look = useRef<() => void>(undefined);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = (): void => {
      const { scrollTop, clientHeight } = element;
      const first = Math.floor(scrollTop / rowHeightPx / STEP) * STEP - OVERSCAN;
      const last = Math.ceil((scrollTop + clientHeight) / rowHeightPx / STEP) * STEP + OVERSCAN;
      setRange((now) => (now.from === first && now.to === last ? now : { from: first, to: last }));
    };
    look.current = measure;
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, [rowHeightPx]);
  const reveal = (index: number): void => {
    const element = box.current;
    if (element === null) return;
    const top = index * rowHeightPx;
    const { scrollTop, clientHeight } = element;
    if (top < scrollTop) element.scrollTop = top;
    else if (top + rowHeightPx > scrollTop + clientHeight)
      element.scrollTop = top + rowHeightPx - clientHeight;
    look.current?.();
  };
  const first = Math.max(0, from);
  const length = Math.max(0, Math.min(count, to) - first);
  return { box, shown: Array.from({ length }, (_, at) => first + at), reveal };
}
