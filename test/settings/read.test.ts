import { expect, test } from 'vitest'
import * as z from 'zod'
import { flag, list, megabytes, required, wholeNumber } from '../../src/settings/fields.ts'
import { ConfigError, type Environment, readSettings, settingsGroup } from '../../src/settings/read.ts'

const first = settingsGroup({
  variables: (env) => ({
    NAME: required('ask Priya'),
    COUNT: wholeNumber({ min: 1, max: 9, default: 3 }),
    LOUD: env.NODE_ENV === 'production' ? flag(true) : flag(false),
  }),
  build: (values) => ({ name: values.NAME, count: values.COUNT, loud: values.LOUD }),
})

const second = settingsGroup({
  variables: () => ({ NAME: required('ask Priya'), TAGS: list(), SIZE_MB: megabytes(2) }),
  build: (values) => ({ tags: values.TAGS, bytes: values.SIZE_MB }),
})

function problems(env: Environment): readonly string[] {
  try {
    readSettings(env, { first, nested: { second } })
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('groups are read by name, and may be nested', () => {
  const settings = readSettings(
    { NAME: ' x ', TAGS: 'a, b,,c ', LOUD: 'true', OTHER: 'ignored' },
    { first, nested: { second } },
  )
  const count: number = settings.first.count
  const tags: string[] = settings.nested.second.tags
  expect(count).toBe(3)
  expect(tags).toEqual(['a', 'b', 'c'])
  expect(settings).toEqual({
    first: { name: 'x', count: 3, loud: true },
    nested: { second: { tags: ['a', 'b', 'c'], bytes: 2_000_000 } },
  })
})

test('a schema may depend on other variables', () => {
  expect(readSettings({ NAME: 'x', NODE_ENV: ' production' }, { first }).first.loud).toBe(true)
})

test.each([undefined, '', '  ', '\t\n'])('%j counts as unset', (blank) => {
  const { first: settings } = readSettings({ NAME: 'x', COUNT: blank }, { first })
  expect(settings.count).toBe(3)
  expect(problems({ NAME: blank })).toEqual(['NAME is required (ask Priya)'])
})

test('the problems of all groups are reported at once, those of a shared variable once', () => {
  expect(problems({ COUNT: '10', LOUD: 'yes', SIZE_MB: '0' })).toEqual([
    'NAME is required (ask Priya)',
    'COUNT must be a whole number from 1 to 9',
    'LOUD must be true or false',
    'SIZE_MB must be a whole number of megabytes from 1 to 999999',
  ])
})

test('the error names one problem, or lists several', () => {
  expect(() => readSettings({}, { second })).toThrow(
    'The settings have a problem: NAME is required (ask Priya)',
  )
  expect(() => readSettings({ COUNT: 'x' }, { first })).toThrow(
    /have 2 problems:\n {2}NAME .*\n {2}COUNT .*\n\.env\.example/,
  )
})

test('the default messages of zod do not repeat a value either', () => {
  const plain = settingsGroup({
    variables: () => ({ A: z.enum(['x']), B: z.string().max(3), C: z.url(), D: z.literal('x') }),
    build: (values) => values,
  })
  const secret = 'hunter2'
  try {
    readSettings({ A: secret, B: secret, C: secret, D: secret }, { plain })
    expect.unreachable()
  } catch (error) {
    expect((error as ConfigError).problems).toHaveLength(4)
    expect(String((error as ConfigError).stack) + JSON.stringify(error)).not.toContain(secret)
  }
})

test.each(['"in quotes"', "'in quotes'"])('a value that is %s is refused by name', (value) => {
  const group = settingsGroup({
    variables: () => ({ NAME: z.string().optional() }),
    build: (values) => values,
  })
  expect(() => readSettings({ NAME: value }, { group })).toThrow('NAME is in quotes')
  expect(readSettings({ NAME: '"one" and "two"x' }, { group }).group.NAME).toBe('"one" and "two"x')
})
