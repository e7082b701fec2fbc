import * as z from 'zod'

declare module 'zod' {
  interface GlobalMeta {
    /** The environment variable that a setting is read from. */
    variable?: string
    /** The example that `.env.example` shows in a comment. */
    example?: string
    /** The value that works with `npm run sandbox`. */
    sandbox?: string
  }
}

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The settings of one part of the core or of one feature. A group is an object schema, which may contain other groups and may end
 * with `transform`. A setting reads the text of its variable and may depend on other variables in `env`, such as `NODE_ENV`. Each
 * setting ends with `.meta`, which has its `variable` and its `description`. `npm run docs` writes these to .env.example
 * and docs/configuration.md, or for a feature of a group to docs/GROUP/configuration.md.
 */
export type SettingsGroup<T = unknown> = (env: Environment) => z.ZodType<T>

/** The result of reading a group. */
export type SettingsOf<G extends SettingsGroup> = z.output<ReturnType<G>>

/** The settings are not valid. `problems` has one line for each problem, starting with the variable's name. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(
      problems.length === 1
        ? `The settings have a problem: ${problems[0]}`
        : `The settings have ${problems.length} problems:\n  ${problems.join('\n  ')}\n.env.example lists every setting; \`npm run demo\` needs none.`,
    )
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** The variables that are set, without surrounding white space. A blank variable counts as unset. */
export const givenOf = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value?.trim() || undefined]))

/**
 * Reads a group. A blank variable counts as unset. Throws a `ConfigError` with all problems at once. The error never repeats a
 * value, which may be a secret.
 */
export function readSettings<T>(env: Environment, group: SettingsGroup<T>): T {
  const given = givenOf(env)
  const schema = group(given)
  // Two groups that read the same variable may report the same problem.
  const problems = new Set<string>()
  for (const [variable, field] of variablesOf(schema)) {
    if (/^(["']).*\1$/s.test(given[variable] ?? ''))
      problems.add(`${variable} is in quotes, which docker --env-file and kubectl keep: remove them`)
    const { error } = z.safeParse(field, given[variable])
    for (const { message } of error?.issues ?? []) problems.add(`${variable} ${message}`)
  }
  if (problems.size > 0) throw new ConfigError([...problems])
  return schema.parse(textsOf(schema, given))
}

/** The settings of a group, including those of nested objects, each with its variable. */
export const variablesOf = (schema: z.core.$ZodType): (readonly [variable: string, z.core.$ZodType])[] =>
  Object.entries(shapeOf(schema) ?? {}).flatMap(([key, field]) =>
    shapeOf(field) ? variablesOf(field) : [[variableOf(field, key), field] as const],
  )

/** The fields of an object, or of a transformed object; null for a setting. */
function shapeOf(schema: z.core.$ZodType): z.core.$ZodShape | null {
  if (schema instanceof z.ZodObject) return schema.shape
  return schema instanceof z.ZodPipe ? shapeOf(schema.in) : null
}

function variableOf(field: z.core.$ZodType, key: string): string {
  const variable = z.globalRegistry.get(field)?.variable
  if (variable !== undefined) return variable
  // A partial object wraps its settings.
  if (field instanceof z.ZodOptional) return variableOf(field.unwrap(), key)
  throw new Error(
    `${key} needs a variable: end its schema with .meta({ variable: 'NAME', description: '…' })`,
  )
}

/** The schema's raw input: each variable's text. */
const textsOf = (schema: z.core.$ZodType, env: Environment): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(shapeOf(schema) ?? {}).map(([key, field]) => [
      key,
      shapeOf(field) ? textsOf(field, env) : env[variableOf(field, key)],
    ]),
  )
