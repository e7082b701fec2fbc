import { expect, test } from 'vitest'
import {
  AppError,
  ConfigurationError,
  ConnectError,
  ConnectionRevokedError,
  CoreError,
  type CoreErrorCode,
  DecryptionError,
  InsufficientScopeError,
  InvalidGrantError,
  NotConnectedError,
  NotFoundError,
  PlatformRejectedError,
  PlatformUnavailableError,
  RefreshTooSoonError,
  StoreUnavailableError,
} from '../../../src/connect/errors.ts'
import { WebError } from '../../../src/web/requests/errors.ts'
import { problemOf } from '../../../src/web/requests/problem.ts'
import { texts } from '../../../src/web/texts.ts'

test.each([
  new ConfigurationError('a reason'),
  new ConnectError('invalid_state', 'a reason'),
  new ConnectionRevokedError(0, 'expired'),
  new DecryptionError('a reason'),
  new InsufficientScopeError([]),
  new InsufficientScopeError(['leads']),
  new InvalidGrantError(),
  new NotConnectedError(),
  new NotFoundError(),
  new PlatformRejectedError('a reason'),
  new PlatformRejectedError('a reason', 'items[0].id'),
  new PlatformUnavailableError('busy', 'a reason'),
  new RefreshTooSoonError(1_000),
  new StoreUnavailableError('a reason'),
])('users read a text of the code in place of the developer’s message: $name', (error) => {
  const { title, detail } = problemOf(error)
  expect(title).not.toBe(texts.errors.internal_error.title)
  expect(detail).not.toContain(error.message)
  expect(detail).not.toMatch(/^[a-z_]*$/)
})

test('users read what a call says about an entry that is not there', () => {
  expect(problemOf(new NotFoundError('This lead is gone.')).detail).toBe('This lead is gone.')
})

test('an error of a feature brings its title and its message', () => {
  class FullError extends AppError {
    readonly code = 'full'
    readonly status = 507
    readonly title = 'No space left'
  }
  expect(problemOf(new FullError('Delete a file.'))).toMatchObject({
    status: 507,
    code: 'full',
    title: 'No space left',
    detail: 'Delete a file.',
  })
})

test('a code without a text does not compile', () => {
  class NewError extends CoreError {
    // @ts-expect-error: the union of the core's codes does not have it.
    readonly code = 'new_code'
    readonly status = 500
  }
  // @ts-expect-error: an error of a feature has a title.
  class UntitledError extends AppError {
    readonly code = 'untitled'
    readonly status = 500
  }
  // @ts-expect-error: `texts.errors` does not have it.
  const unknown = () => new WebError(500, 'new_code', 'A message.')
  // @ts-expect-error: the texts of the core have each of its codes.
  const complete: Record<CoreErrorCode | 'new_code', object> = {
    ...texts.coreErrors,
    platform_unavailable: {},
  }
  expect([NewError, UntitledError, unknown, complete]).toHaveLength(4)
})
