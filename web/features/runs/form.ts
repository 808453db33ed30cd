// A form of a JSON schema: its fields, what is typed into them, and the value that comes of that.
import { parse, printParseErrorCode, type ParseError } from 'jsonc-parser';

/** A field of a form. */
export interface Field {
  /** The name of the property; empty where the whole input is one field. */
  name: string;
  title: string;
  doc: string | null;
  required: boolean;
  shape:
    | { kind: 'string' }
    | { kind: 'text' }
    | { kind: 'number'; whole: boolean; least: number | null; most: number | null }
    | { kind: 'boolean' }
    | { kind: 'choice'; options: readonly unknown[] }
    | { kind: 'json' };
  /** What stands in it at first. */
  initial: string;
}

type Schema = Record<string, unknown>;

/** Formats of strings that are written in lines. */
const LINED = ['text', 'patch', 'diff', 'markdown', 'multiline', 'textarea'];
/** A string that may be longer than this is written in lines. */
const LONG = 400;

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const finite = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : null);

function shapeOf(schema: Schema): Field['shape'] {
  const options = schema['enum'];
  if (Array.isArray(options) && options.length > 0) return { kind: 'choice', options };
  const { type: given, format, maxLength } = schema;
  const types = (Array.isArray(given) ? given : [given]).filter((type) => type !== 'null');
  const type = types.length === 1 ? types[0] : null;
  switch (type) {
    case 'string': {
      const lined =
        schema['x-multiline'] === true ||
        (typeof format === 'string' && LINED.includes(format)) ||
        (finite(maxLength) ?? 0) > LONG;
      return { kind: lined ? 'text' : 'string' };
    }
    case 'integer':
    case 'number':
      return {
        kind: 'number',
        whole: type === 'integer',
        least: finite(schema['minimum']),
        most: finite(schema['maximum']),
      };
    case 'boolean':
      return { kind: 'boolean' };
    default:
      return { kind: 'json' };
  }
}

/** What a value looks like in a field. */
export function written(shape: Field['shape'], value: unknown): string {
  switch (shape.kind) {
    case 'string':
    case 'text':
      return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
    case 'number':
      return finite(value) === null ? '' : String(value);
    case 'boolean':
      return value === true ? 'true' : 'false';
    case 'choice': {
      const at = shape.options.findIndex((option) => JSON.stringify(option) === JSON.stringify(value));
      return at < 0 ? '' : String(at);
    }
    case 'json':
      return value === undefined ? '' : JSON.stringify(value, null, 2);
  }
}

/** How much there is to write in a field. */
const WEIGHT = { string: 0, number: 0, boolean: 0, choice: 0, text: 1, json: 2 } as const;

/**
 * The fields of a schema, those that are needed first, and of the others those that take the least writing; one field of
 * JSON where it is not of an object with properties.
 */
export function fieldsOf(schema: unknown): Field[] {
  const properties = isSchema(schema) ? schema['properties'] : null;
  if (!isSchema(schema) || !isSchema(properties) || Object.keys(properties).length === 0)
    return [
      {
        name: '',
        title: 'input',
        doc: isSchema(schema) && typeof schema['description'] === 'string' ? schema['description'] : null,
        required: true,
        shape: { kind: 'json' },
        initial: '{}',
      },
    ];
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = Object.entries(properties).map(([name, given]): Field => {
    const property = isSchema(given) ? given : {};
    const shape = shapeOf(property);
    const { title, description } = property;
    const needed = required.includes(name);
    return {
      name,
      title: typeof title === 'string' ? title : name,
      doc: typeof description === 'string' ? description : null,
      required: needed,
      shape,
      initial: 'default' in property || shape.kind === 'boolean' ? written(shape, property['default']) : '',
    };
  });
  const optional = fields.filter(({ required }) => !required);
  return [
    ...fields.filter(({ required }) => required),
    ...optional.sort((a, b) => WEIGHT[a.shape.kind] - WEIGHT[b.shape.kind]),
  ];
}

/** What stands in the fields of a form, by name. */
export type Draft = Readonly<Record<string, string>>;

/** A form as it is opened; what another run was given is taken over. */
export function draftOf(fields: readonly Field[], given: unknown): Draft {
  return Object.fromEntries(
    fields.map(({ name, shape, initial }) => {
      if (name === '') return [name, given === undefined ? initial : written(shape, given)];
      const value = isSchema(given) ? given[name] : undefined;
      return [name, value === undefined ? initial : written(shape, value)];
    }),
  );
}

/** Where a text stops being JSON: `line 2, column 5: value expected`. */
function jsonOf(text: string): { value: unknown } | { slip: string } {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [first] = errors;
  if (!first) return { value };
  const before = text.slice(0, first.offset).split('\n');
  const what = printParseErrorCode(first.error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase();
  return { slip: `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${what}` };
}

/** The value of a field, or what is wrong with it; nothing where it is left out. */
export function valueOf({ shape, required }: Field, text: string): { value: unknown } | { slip: string } | null {
  const empty = text.trim() === '';
  if (empty && shape.kind !== 'boolean') return required ? { slip: 'is needed' } : null;
  switch (shape.kind) {
    case 'string':
      return { value: text.trim() };
    case 'text':
      return { value: text };
    case 'boolean':
      return { value: text === 'true' };
    case 'choice':
      return { value: shape.options[Number(text)] };
    case 'number': {
      const number = Number(text);
      if (!Number.isFinite(number)) return { slip: 'is no number' };
      if (shape.whole && !Number.isSafeInteger(number)) return { slip: 'is no whole number' };
      if (shape.least !== null && number < shape.least) return { slip: `is at least ${shape.least}` };
      if (shape.most !== null && number > shape.most) return { slip: `is at most ${shape.most}` };
      return { value: number };
    }
    case 'json':
      return jsonOf(text);
  }
}

/** The input that a form makes, with what is wrong in it, by field. */
export function inputOf(
  fields: readonly Field[],
  draft: Draft,
): { input: unknown; slips: ReadonlyMap<string, string> } {
  const slips = new Map<string, string>();
  const input: Record<string, unknown> = {};
  let whole: unknown;
  for (const field of fields) {
    const made = valueOf(field, draft[field.name] ?? '');
    if (made === null) continue;
    if ('slip' in made) slips.set(field.name, made.slip);
    else if (field.name === '') whole = made.value;
    else input[field.name] = made.value;
  }
  return { input: fields[0]?.name === '' ? whole : input, slips };
}
