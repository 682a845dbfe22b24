# Says where the server of an image is and which version it is of: a word and a value a line.
for server in \
    /usr/sbin/mariadbd /usr/sbin/mysqld /usr/libexec/mariadbd /usr/libexec/mysqld \
    /opt/bitnami/*/sbin/mariadbd /opt/bitnami/*/sbin/mysqld /opt/bitnami/*/bin/mariadbd /opt/bitnami/*/bin/mysqld \
    /usr/local/*/bin/mariadbd /usr/local/*/bin/mysqld /opt/*/bin/mariadbd /opt/*/bin/mysqld \
    /bin/mariadbd /bin/mysqld /sbin/mariadbd /sbin/mysqld \
    /usr/lib/postgresql/*/bin/postgres /usr/pgsql-*/bin/postgres /usr/libexec/postgresql*/postgres \
    /opt/bitnami/*/bin/postgres /usr/local/*/bin/postgres /usr/local/bin/postgres /bin/postgres \
    "$(command -v mariadbd)" "$(command -v mysqld)" "$(command -v postgres)"
do
    [ -f "$server" ] && [ -x "$server" ] && break
    server=
done
[ -n "$server" ] || exit 0
echo "server $server"
"$server" --version 2>&1 | while read -r line; do echo "version $line"; done
folder=${server%/*}
root=${folder%/*}
for share in "$root"/share/mysql "$root"/share/mysql-* "$root"/share/mariadb "$root"/share/percona-* "$root"/share; do
    if [ -f "$share/english/errmsg.sys" ]; then
        echo "share $share"
        break
    fi
done
for plugins in "$root"/lib/mysql/plugin "$root"/lib64/mysql/plugin "$root"/lib/mariadb/plugin \
    "$root"/lib64/mariadb/plugin "$root"/lib/*/mariadb*/plugin "$root"/lib/plugin "$root"/lib64/plugin
do
    if [ -d "$plugins" ]; then
        echo "plugins $plugins"
        for plugin in "$plugins"/ha_*.so; do echo "plugin ${plugin##*/}"; done
        break
    fi
done
exit 0
