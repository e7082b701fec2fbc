import { expect, test } from 'vitest'
import { check, idsOf } from './checked.ts'
import { type Change, CLIENT } from './model.ts'

/** Repeats what it knows and what it was sent in every answer, in several encodings. */
const echoing: Change = () => ({
  finish(answer, { form, token, path }) {
    const known = [String(form?.client_secret ?? ''), CLIENT.secret, token]
    const told = known.flatMap((secret) => [
      secret,
      secret.toUpperCase(),
      encodeURIComponent(secret),
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('hex'),
    ])
    if (path === '/connect/token' && answer.status === 200) return answer
    const { body } = answer
    // JSON may escape any character of a secret.
    const more = Array.isArray(body)
      ? body.map((one) => ({ ...one, told }))
      : { ...body, told, id: CLIENT.secret }
    return { ...answer, body: JSON.stringify(more).replaceAll('Secret', '\\u0053ecret') }
  },
})

test.each<[string, Change, string]>([
  ['repeats them', echoing, 'store.one'],
  [
    'repeats them, and accepts the beginning of the secret',
    (right) => ({
      ...echoing(right),
      isClient: (id, secret) =>
        right.isClient(id, secret === CLIENT.secret.slice(0, -1) ? CLIENT.secret : secret),
    }),
    'token.wrong-secret',
  ],
  [
    'repeats them, and accepts the beginning of a token',
    (right) => ({
      ...echoing(right),
      accepts: (token, path) =>
        [...right.issued.keys()].some(
          (one) => token !== '' && one.startsWith(token) && right.accepts(one, path),
        ),
    }),
    'token.made-up',
  ],
])('no finding shows secrets of a supplier that %s', async (_name, change, rule) => {
  const findings = await check(change)
  expect(idsOf(findings, 'wrong')).toContain(rule)
  const texts = JSON.stringify(findings)
  for (const secret of ['of-the-Model', 'OF-THE-MODEL', '0053ecret', 'Token-', 'TOKEN-', '-abcde'])
    expect(texts.includes(secret), secret).toBe(false)
  for (const encoding of ['base64', 'hex'] as const)
    expect(texts).not.toContain(Buffer.from(CLIENT.secret).toString(encoding).replace(/=+$/, '').slice(0, -2))
  expect(texts).toContain('[hidden]')
})
