import { Button } from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import { useState, type ReactNode } from 'react';

/** A text with a copy button. If the browser refuses access to the clipboard, the text can be selected. */
export function CopyText({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="copy-text">
      <code tabIndex={0} aria-label={label}>
        {text}
      </code>
      <Button
        variant="default"
        leftSection={isCopied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
        onClick={() =>
          void navigator.clipboard.writeText(text).then(
            () => setCopied(true),
            () => undefined,
          )
        }
      >
        {isCopied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  );
}
