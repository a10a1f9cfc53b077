import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { HostileText } from '../hostile-text.tsx';

type Block = Readonly<Record<string, unknown>>;

/** One block of a result, by its type. Nothing in it is interpreted as markup, and nothing is fetched. */
export function ContentBlock({ block }: { readonly block: unknown }): ReactNode {
  if (typeof block !== 'object' || block === null) return <JsonText value={block} />;
  const { type, text, data, mimeType } = block as Block;
  switch (type) {
    case 'text':
      return typeof text === 'string' ? <LongText text={text} /> : <JsonText value={block} />;
    case 'image':
    case 'audio':
      return <Media data={data} mimeType={mimeType} />;
    case 'resource':
      return <Resource resource={(block as Block)['resource']} />;
    case 'resource_link':
      return <ResourceLink link={block} />;
    default:
      return <JsonText value={block} />;
  }
}

/** Browsers are slow with more text in one element. */
const SHOWN_CHARACTERS = 20_000;

export function LongText({
  text,
  label = 'Text',
}: {
  readonly text: string;
  readonly label?: string;
}): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > SHOWN_CHARACTERS && !isWhole;
  return (
    <>
      <pre className="output" tabIndex={0} aria-label={label}>
        <HostileText text={isLong ? text.slice(0, SHOWN_CHARACTERS) : text} />
      </pre>
      {isLong && (
        <Button size="compact-xs" variant="default" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </Button>
      )}
    </>
  );
}

export function JsonText({
  value,
  label = 'JSON',
}: {
  readonly value: unknown;
  readonly label?: string;
}): ReactNode {
  return <LongText text={JSON.stringify(value, null, 2)} label={label} />;
}

const BASE64 = /^[A-Za-z0-9+/=\s]*$/;
const IMAGE = /^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)$/i;
const AUDIO = /^audio\/[\w.+-]+$/i;

function Media({ data, mimeType }: { readonly data: unknown; readonly mimeType: unknown }): ReactNode {
  if (typeof data !== 'string' || typeof mimeType !== 'string' || !BASE64.test(data))
    return <p className="bad">This block has no readable data.</p>;
  const size = sizeText((data.length * 3) / 4);
  const source = `data:${mimeType};base64,${data}`;
  return (
    <figure>
      {IMAGE.test(mimeType) && <img src={source} alt="From the result of the tool" />}
      {AUDIO.test(mimeType) && <audio controls src={source} aria-label="From the result of the tool" />}
      <figcaption className="quiet small">
        <HostileText text={mimeType} />, {size}{' '}
        <a
          href={`data:application/octet-stream;base64,${data}`}
          download={`result${ENDINGS[mimeType] ?? ''}`}
        >
          Download
        </a>
      </figcaption>
    </figure>
  );
}

const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/gif': '.gif',
  'image/webp': '.webp',
  'audio/wav': '.wav',
  'audio/mpeg': '.mp3',
};

function Resource({ resource }: { readonly resource: unknown }): ReactNode {
  if (typeof resource !== 'object' || resource === null) return <JsonText value={resource} />;
  const { uri, mimeType = 'application/octet-stream', text, blob } = resource as Block;
  return (
    <div className="resource">
      <p className="small">
        <strong>Resource</strong>{' '}
        <code>
          <HostileText text={String(uri)} />
        </code>
      </p>
      {typeof text === 'string' ? <LongText text={text} /> : <Media data={blob} mimeType={mimeType} />}
    </div>
  );
}

/** Shown as text: only the server can resolve this link. */
function ResourceLink({ link }: { readonly link: object }): ReactNode {
  const { uri, name, title, description, mimeType } = link as Block;
  const shown = [title ?? name, description, mimeType].filter((one) => typeof one === 'string');
  return (
    <div className="resource">
      <p className="small">
        <strong>Link to a resource</strong>{' '}
        <code>
          <HostileText text={String(uri)} />
        </code>
      </p>
      {shown.length > 0 && (
        <p className="quiet small">
          <HostileText text={shown.join(' · ')} />
        </p>
      )}
    </div>
  );
}

function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${Math.round(bytes)} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
