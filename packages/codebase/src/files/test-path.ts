/** Whether a file is a test, or supports tests, by the naming conventions of the languages that are parsed. */
export function isTestPath(path: string): boolean {
  const slash = path.lastIndexOf('/');
  return TEST_FILE.test(path.slice(slash + 1)) || (slash > 0 && TEST_DIRECTORY.test(path.slice(0, slash)));
}

const TEST_DIRECTORY =
  /(?:^|\/)(?:tests?|__tests__|specs?|__mocks__|__fixtures__|fixtures|testdata|testing|e2e|src\/test|[\w.-]+[.-](?:tests?|specs?))(?:\/|$)/i;

/** `x.test.ts`, `x_test.go`, `test_x.py`, `XTest.java`, `XTests.cs`, `x_spec.rb`, `conftest.py`, `x.bats`. */
const TEST_FILE =
  /[._-](?:tests?|spec|e2e)[.]\w+$|^tests?[._-].*[.]\w+$|[a-z0-9](?:Tests?|TestCase|Spec)[.](?:java|cs|php|kt|scala|swift|cpp|cc|h)$|^(?:conftest|tests?)[.]py$|[.]bats$|^test[.](?:[cm]?[jt]sx?|rb|sh)$/;
