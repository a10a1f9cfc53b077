import { createTheme, type MantineThemeOverride } from '@mantine/core';

/** Defaults of parts; colours and fonts are in app.css. */
export const theme: MantineThemeOverride = createTheme({
  primaryColor: 'indigo',
  components: {
    Button: { defaultProps: { size: 'xs' } },
    TextInput: { defaultProps: { size: 'xs' } },
    PasswordInput: { defaultProps: { size: 'xs' } },
    Textarea: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { size: 'xs' } },
    NativeSelect: { defaultProps: { size: 'xs' } },
    // The content-security policy would block its <style> element.
    Drawer: { defaultProps: { lockScroll: false, transitionProps: { duration: 120 } } },
    Modal: { defaultProps: { lockScroll: false, transitionProps: { duration: 120 } } },
  },
});
