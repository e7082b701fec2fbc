import { expect, test } from 'vitest'
import { copyProject } from '../support/project.ts'

test('npm run mutate counts the faults that the tests notice, and names the others', async () => {
  const project = copyProject()
  const output = await project.program(
    'test/mutate/mutate.ts',
    'src/connect/vault/last-use.ts',
    '--tests',
    'test/connect/vault/last-use.test.ts',
  )
  const [, mutants, killed, survived] = /last-use\.ts +(\d+) +(\d+) +(\d+)/.exec(output) ?? []
  expect(Number(mutants)).toBeGreaterThan(20)
  expect(Number(killed) + Number(survived)).toBe(Number(mutants))
  // It exits with 1 below 85 %.
  expect(Number(killed) / Number(mutants)).toBeGreaterThan(0.85)
  expect(output.match(/^src\/connect\/vault\/last-use\.ts:\d+ .* -> /gm)).toHaveLength(Number(survived))
  project.remove()
})
