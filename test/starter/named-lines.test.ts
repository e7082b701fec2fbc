import { expect, test } from 'vitest'
import { files, read } from '../support/documents.ts'

/**
 * The lines that `npm run init` rewrites, each between its neighbours. Git can't merge a change of a line with a change of the line
 * beside it, so a change here puts the file in conflict in every product.
 */
const NAMED = [
  [
    'cd ../your-app',
    'npm install ../connect-starter/connect-core-VERSION.tgz express express-session zod',
    'cp ../connect-starter/docs/examples/core-app.mjs app.mjs',
    '```',
  ],
  [
    '  internalUrls?: InternalUrls',
    '  /** The `User-Agent` of every request, the name of your app; `connect-starter` by default. */',
    '  userAgent?: string',
  ],
  [
    '/** Some firewalls refuse requests without a `User-Agent`. */',
    "const USER_AGENT = 'connect-starter'",
    '',
  ],
  [
    '/** Some servers refuse clients that do not look like a browser. */',
    "const USER_AGENT = 'Mozilla/5.0 (compatible; connect-starter doctor)'",
    '',
  ],
  [
    '/** The name of this app, wherever pages and emails show it. */',
    "const APP_NAME = 'Connect Starter'",
    "const SAFE = 'Your connection is safe, and the app will try again on next use.'",
  ],
].map((lines) => lines.join('\n'))

test('the lines beside those that init rewrites stay as products have them, so that an update merges them', () => {
  const texts = files('{src,docs}/**/*.{ts,md}')
    .filter((file) => !file.startsWith('src/cli/'))
    .map(read)
  for (const lines of NAMED)
    expect(
      texts.some((text) => text.includes(lines)),
      lines,
    ).toBe(true)
  const isNamed = (line: string) => /connect-starter|APP_NAME = /.test(line)
  const named = texts.flatMap((text) => text.split('\n').filter(isNamed))
  expect(named.sort()).toEqual(NAMED.flatMap((lines) => lines.split('\n').filter(isNamed)).sort())
})
