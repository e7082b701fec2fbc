import { expect, test } from 'vitest'
import * as z from 'zod'
import { flag, list, required, wholeNumber } from '../../src/settings/fields.ts'
import { ConfigError, type Environment, readSettings } from '../../src/settings/read.ts'

const NAME = required('ask Priya').meta({ variable: 'NAME' })

const first = (env: Environment) =>
  z.object({
    name: NAME,
    count: wholeNumber({ min: 1, max: 9, default: 3 }).meta({ variable: 'COUNT' }),
    loud: flag(env.NODE_ENV === 'production').meta({ variable: 'LOUD' }),
  })

const second = () =>
  z
    .object({
      name: NAME,
      tags: list().meta({ variable: 'TAGS' }),
      size: wholeNumber({ min: 1, max: 9, default: 2 }).meta({ variable: 'SIZE' }),
    })
    .transform(({ tags, size }) => ({ tags, size }))

const both = (env: Environment) => first(env).extend({ second: second() })

function problems(env: Environment): readonly string[] {
  try {
    readSettings(env, both)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('groups may be nested and transformed', () => {
  const settings = readSettings({ NAME: ' x ', TAGS: 'a, b,,c ', LOUD: 'true', OTHER: 'ignored' }, both)
  const count: number = settings.count
  const tags: string[] = settings.second.tags
  expect(count).toBe(3)
  expect(tags).toEqual(['a', 'b', 'c'])
  expect(settings).toEqual({
    ...{ name: 'x', count: 3, loud: true },
    second: { tags: ['a', 'b', 'c'], size: 2 },
  })
})

test('a schema may depend on other variables', () => {
  expect(readSettings({ NAME: 'x', NODE_ENV: ' production' }, first).loud).toBe(true)
})

test.each([undefined, '', '  ', '\t\n'])('%j counts as unset', (blank) => {
  expect(readSettings({ NAME: 'x', COUNT: blank }, first).count).toBe(3)
  expect(problems({ NAME: blank })).toEqual(['NAME is required (ask Priya)'])
})

test('the problems of all groups are reported at once, those of a shared variable once', () => {
  expect(problems({ COUNT: '10', LOUD: 'yes', SIZE: '0' })).toEqual([
    'NAME is required (ask Priya)',
    'COUNT must be a whole number from 1 to 9',
    'LOUD must be true or false',
    'SIZE must be a whole number from 1 to 9',
  ])
})

test('the error names one problem, or lists several', () => {
  expect(() => readSettings({}, second)).toThrow('The settings have a problem: NAME is required (ask Priya)')
  expect(() => readSettings({ COUNT: 'x' }, first)).toThrow(
    /have 2 problems:\n {2}NAME .*\n {2}COUNT .*\n\.env\.example/,
  )
})

test('the default messages of zod do not repeat a value either', () => {
  const plain = () =>
    z.object({
      a: z.enum(['x']).meta({ variable: 'A' }),
      b: z.string().max(3).meta({ variable: 'B' }),
      c: z.url().meta({ variable: 'C' }),
      d: z.literal('x').meta({ variable: 'D' }),
    })
  const secret = 'hunter2'
  try {
    readSettings({ A: secret, B: secret, C: secret, D: secret }, plain)
    expect.unreachable()
  } catch (error) {
    expect((error as ConfigError).problems).toHaveLength(4)
    expect(String((error as ConfigError).stack) + JSON.stringify(error)).not.toContain(secret)
  }
})

test.each(['"in quotes"', "'in quotes'"])('a value that is %s is refused by name', (value) => {
  const group = () => z.object({ name: z.string().optional().meta({ variable: 'NAME' }) })
  expect(() => readSettings({ NAME: value }, group)).toThrow('NAME is in quotes')
  expect(readSettings({ NAME: '"one" and "two"x' }, group).name).toBe('"one" and "two"x')
})
