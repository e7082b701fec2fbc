import { describe, test } from 'vitest'
import { CASES, expectOneFinding } from './wrong-suppliers.ts'

describe('a supplier that answers', () => {
  test.concurrent.each(CASES)('$name breaks $id only', expectOneFinding)
})
