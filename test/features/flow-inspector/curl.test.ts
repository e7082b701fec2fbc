import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { curlOf } from '../../../src/features/flow-inspector/curl.ts'

/** The arguments that a shell passes to curl. */
function argumentsOf(command: string, env: Record<string, string>): string[] {
  const script = command.replace(/^curl /, `printf '%s\\n' `)
  return execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { ...process.env, ...env } })
    .trimEnd()
    .split('\n')
}

test('a token request is a command whose secrets are shell variables', () => {
  const command = curlOf({
    method: 'POST',
    url: 'https://identity.example/oauth/token',
    headers: [
      { name: 'accept', value: 'application/json' },
      { name: 'content-type', value: 'application/x-www-form-urlencoded' },
    ],
    parameters: [
      { name: 'grant_type', value: 'authorization_code' },
      { name: 'code', fingerprint: 'code:43:abcdef' },
      { name: 'client_secret', fingerprint: 'client_secret:20:123456' },
    ],
  })
  expect(command).not.toContain('abcdef')
  expect(argumentsOf(command, { CODE: 'the code', CLIENT_SECRET: 's' })).toEqual([
    '--include',
    '--request',
    'POST',
    'https://identity.example/oauth/token',
    '--header',
    'accept: application/json',
    '--data-urlencode',
    'grant_type=authorization_code',
    '--data-urlencode',
    'code=the code',
    '--data-urlencode',
    'client_secret=s',
  ])
})

test('a request of the browser has its parameters in the address, and quotes do not end an argument', () => {
  const command = curlOf({
    method: 'GET',
    url: 'https://app.example/start',
    headers: [{ name: 'authorization', fingerprint: 'access_token:40:abcdef' }],
    parameters: [{ name: 'name', value: "O'Brien $HOME `id`" }],
  })
  expect(argumentsOf(command, { ACCESS_TOKEN: 'secret' })).toEqual([
    '--get',
    '--include',
    'https://app.example/start',
    '--header',
    'authorization: Bearer secret',
    '--data-urlencode',
    "name=O'Brien $HOME `id`",
  ])
})
