import Form from '@rjsf/core/lib/components/Form.js';
import type {
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  DescriptionFieldProps,
  IconButtonProps,
  RJSFSchema,
  TitleFieldProps,
  UnsupportedFieldProps,
} from '@rjsf/utils';
import { useEffect, useMemo, type ReactNode } from 'react';
import { HostileText } from '../hostile-text.tsx';
import { buildInitialArguments, omitUntouched } from '../../state/argument-schema.ts';
import { type ArgumentFault, toErrorSchema, formValidator } from './argument-validator.ts';

interface ArgumentFormProps {
  readonly schema: RJSFSchema;
  readonly value: Readonly<Record<string, unknown>>;
  readonly faults: readonly ArgumentFault[];
  readonly isDisabled: boolean;
  readonly onChange: (value: Readonly<Record<string, unknown>>) => void;
}

/** A form generated from the input schema of a tool. */
export function ArgumentForm(props: ArgumentFormProps): ReactNode {
  const { schema, value, faults, isDisabled, onChange } = props;
  const extraErrors = useMemo(() => toErrorSchema(faults), [faults]);
  useEffect(() => {
    if (Object.keys(value).length > 0) return;
    const initial = buildInitialArguments(schema);
    if (Object.keys(initial).length > 0) onChange(initial);
    // Filled in only once; values that the user removes stay removed.
  }, []);
  return (
    <Form
      className="argument-form"
      tagName="div"
      idPrefix="argument"
      schema={{ ...schema, title: '', description: '' }}
      uiSchema={UI_SCHEMA}
      validator={formValidator}
      formData={value}
      extraErrors={extraErrors}
      disabled={isDisabled}
      experimental_defaultFormStateBehavior={NO_DEFAULTS}
      noHtml5Validate
      showErrorList={false}
      templates={TEMPLATES}
      onChange={({ formData }) => onChange(omitUntouched(formData ?? {}, value) as typeof value)}
    >
      {/* The page has the button. */}
      <span />
    </Form>
  );
}

/** No hidden defaults: the JSON shows everything that is sent. */
const NO_DEFAULTS = { emptyObjectFields: 'skipDefaults' } as const;
const UI_SCHEMA = { 'ui:submitButtonOptions': { norender: true } };

function Description({ id, description }: DescriptionFieldProps): ReactNode {
  if (typeof description !== 'string' || description === '') return null;
  return (
    <p id={id} className="quiet small field-description">
      <HostileText text={description} />
    </p>
  );
}

function Title({ id, title, required }: TitleFieldProps): ReactNode {
  return (
    <legend id={id}>
      <HostileText text={title} />
      {required === true && <Required />}
    </legend>
  );
}

function Required(): ReactNode {
  return <span className="required"> (required)</span>;
}

function List(props: ArrayFieldTemplateProps): ReactNode {
  const { title, schema, items, canAdd, onAddClick, disabled, required } = props;
  return (
    <fieldset>
      <legend>
        <HostileText text={title} />
        {required === true && <Required />}
      </legend>
      {schema.description !== undefined && (
        <p className="quiet small field-description">
          <HostileText text={schema.description} />
        </p>
      )}
      {items}
      {canAdd && (
        <button type="button" className="small-button" disabled={disabled} onClick={() => onAddClick()}>
          Add<span className="sr-only"> to {title}</span>
        </button>
      )}
    </fieldset>
  );
}

function Item({ children, buttonsProps, index }: ArrayFieldItemTemplateProps): ReactNode {
  const { hasRemove, onRemoveItem, disabled } = buttonsProps;
  return (
    <div className="list-item">
      <div>{children}</div>
      {hasRemove && (
        <button type="button" className="small-button" disabled={disabled} onClick={onRemoveItem}>
          Remove<span className="sr-only"> item {index + 1}</span>
        </button>
      )}
    </div>
  );
}

function Add({ onClick, disabled }: IconButtonProps): ReactNode {
  return (
    <button type="button" className="small-button" disabled={disabled} onClick={onClick}>
      Add a property
    </button>
  );
}

function Remove({ onClick, disabled }: IconButtonProps): ReactNode {
  return (
    <button type="button" className="small-button" disabled={disabled} onClick={onClick}>
      Remove
    </button>
  );
}

function Unsupported({ schema }: UnsupportedFieldProps): ReactNode {
  return (
    <p className="quiet small">
      Edit as JSON: <HostileText text={schema.title ?? 'this part of the schema has no type'} />
    </p>
  );
}

const TEMPLATES = {
  DescriptionFieldTemplate: Description,
  TitleFieldTemplate: Title,
  ArrayFieldTemplate: List,
  ArrayFieldItemTemplate: Item,
  UnsupportedFieldTemplate: Unsupported,
  ButtonTemplates: { AddButton: Add, RemoveButton: Remove },
};
