// Renders a Helm chart as `helm template` does, with the same template engine and functions, but without Helm, which
// neither npm nor Debian has: text/template of Go, and sprig. On Debian:
//
//	apt-get install golang-go golang-github-masterminds-sprig-dev golang-github-ghodss-yaml-dev
//	GO111MODULE=off GOPATH=/usr/share/gocode go run render.go CHART RELEASE [VALUES.yaml …]
//
// Later values replace earlier ones, member by member. It validates nothing.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/ghodss/yaml"
)

type values = map[string]interface{}

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: render CHART RELEASE [VALUES.yaml …]"))
	}
	chart, release := os.Args[1], os.Args[2]
	given := read(filepath.Join(chart, "values.yaml"))
	for _, path := range os.Args[3:] {
		given = overlay(given, read(path))
	}
	about := read(filepath.Join(chart, "Chart.yaml"))
	data := values{
		"Values":  given,
		"Chart":   values{"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
		"Release": values{"Name": release, "Namespace": "assay", "Service": "Helm", "IsInstall": true, "Revision": 1},
	}
	root := template.New("chart").Option("missingkey=zero")
	root.Funcs(functions(root))
	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	fail(err)
	sort.Strings(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		fail(err)
		_, err = root.New(filepath.Base(file)).Parse(string(text))
		fail(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "_") || !strings.HasSuffix(name, ".yaml") {
			continue
		}
		var out bytes.Buffer
		fail(root.ExecuteTemplate(&out, name, data))
		// Helm prints what is missing as an empty string, too.
		text := strings.TrimSpace(strings.ReplaceAll(out.String(), "<no value>", ""))
		if text != "" {
			fmt.Printf("---\n# Source: assay/templates/%s\n%s\n", name, text)
		}
	}
}

// What Helm has beside the functions of sprig, as far as the chart uses it.
func functions(root *template.Template) template.FuncMap {
	all := sprig.TxtFuncMap()
	delete(all, "env") // Helm has neither.
	delete(all, "expandenv")
	all["include"] = func(name string, data interface{}) (string, error) {
		var out strings.Builder
		err := root.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	all["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	all["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, fmt.Errorf("%s", message)
		}
		return value, nil
	}
	return all
}

func read(path string) values {
	text, err := os.ReadFile(path)
	fail(err)
	asJSON, err := yaml.YAMLToJSON(text)
	fail(err)
	found := values{}
	fail(json.Unmarshal(asJSON, &found))
	return found
}

func overlay(base, over values) values {
	for name, value := range over {
		below, isBase := base[name].(values)
		above, isOver := value.(values)
		if isBase && isOver {
			base[name] = overlay(below, above)
		} else {
			base[name] = value
		}
	}
	return base
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
