import * as z from 'zod'

export type Environment = Readonly<Record<string, string | undefined>>

/** Settings that belong together: one part of the core, or one feature. */
export interface SettingsGroup<T> {
  /**
   * A schema for each variable, by name. A schema reads the text of its own variable and may depend on the others in
   * `env`, for example on `NODE_ENV`. `Object.keys(group.variables({}))` lists the names. Each ends with `.meta`, whose
   * `description` `npm run docs` writes to docs/configuration.md and .env.example.
   */
  variables(env: Environment): z.core.$ZodShape
  /** Turns the values of the variables into the typed settings. */
  build(values: Readonly<Record<string, unknown>>): T
}

/** Groups by name; they may be nested. */
export interface SettingsGroups {
  readonly [name: string]: SettingsGroup<unknown> | SettingsGroups
}

/** What a group, or a record of groups, is read as. */
export type SettingsOf<G> =
  G extends SettingsGroup<infer T> ? T : { -readonly [K in keyof G]: SettingsOf<G[K]> }

/** The settings are not valid; `problems` has one line for each problem, starting with the variable's name. */
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

/** Defines a group; the parameter of `build` gets its type from `variables`. */
export function settingsGroup<S extends z.core.$ZodShape, T>(group: {
  variables: (env: Environment) => S
  build: (values: z.output<z.ZodObject<S>>) => T
}): SettingsGroup<T> {
  return { ...group, build: (values) => group.build(values as z.output<z.ZodObject<S>>) }
}

/**
 * Reads several groups at once. A blank variable counts as unset. Throws a `ConfigError` with the problems of all
 * groups; it never repeats a value, which may be a secret.
 */
export function readSettings<G extends SettingsGroups>(env: Environment, groups: G): SettingsOf<G> {
  const given = Object.entries(env).map(([name, value]) => [name, value?.trim() || undefined])
  // Two groups may report the same problem of a variable that both read.
  const problems = new Set<string>()
  const settings = readGroups(Object.fromEntries(given), groups, problems)
  if (problems.size > 0) throw new ConfigError([...problems])
  return settings as SettingsOf<G>
}

function readGroups(env: Environment, groups: SettingsGroups, problems: Set<string>): unknown {
  const read = Object.entries(groups).map(([name, group]) => [
    name,
    isGroup(group) ? readGroup(env, group, problems) : readGroups(env, group, problems),
  ])
  return Object.fromEntries(read)
}

function readGroup(env: Environment, group: SettingsGroup<unknown>, problems: Set<string>): unknown {
  const variables = group.variables(env)
  for (const name of Object.keys(variables))
    if (/^(["']).*\1$/s.test(env[name] ?? ''))
      problems.add(`${name} is in quotes, which docker --env-file and kubectl keep: remove them`)
  const values = Object.fromEntries(Object.keys(variables).map((name) => [name, env[name]]))
  const result = z.object(variables).safeParse(values)
  if (result.success) return group.build(result.data)
  for (const { path, message } of result.error.issues) problems.add(`${String(path[0])} ${message}`)
  return undefined
}

const isGroup = (value: SettingsGroup<unknown> | SettingsGroups): value is SettingsGroup<unknown> =>
  typeof value.variables === 'function'
